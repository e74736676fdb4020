"use strict";

/* The page about the API. What differs between hubs is in attributes, so that no script is written into the page. */

document.addEventListener("DOMContentLoaded", () => {
  const place = document.getElementById("swagger-ui");
  SwaggerUIBundle({
    url: place.dataset.schema,
    domNode: place,
    presets: [SwaggerUIBundle.presets.apis],
    layout: "BaseLayout",
    ...JSON.parse(place.dataset.settings),
  });
});
