int good;
