"""GraphQL over HTTP, whatever the schema: the endpoint, its documents, bodies, media types and headers.

``graphql_http`` is the endpoint; ``parameters`` takes requests apart and ``answers`` puts responses together;
``documents`` parses, validates and keeps query texts for it and for every other transport; ``body`` reads bodies
within a limit; ``negotiation`` chooses media types; ``cors`` lets browsers everywhere in; ``boundary`` gives each
request an id and masks what nothing else caught.
"""
