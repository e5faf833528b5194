# pmix
