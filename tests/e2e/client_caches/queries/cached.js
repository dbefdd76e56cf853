// What relay-compiler compiles; nothing runs this file.
import { graphql } from "relay-runtime";

graphql`
  query cachedNowQuery($id: ID!) {
    run(id: $id) {
      id
      digest
      ranking { rank groupSize leader { id shortId ranking { rank } } }
    }
  }
`;

graphql`
  query cachedThenQuery($id: ID!, $position: Position!) {
    at(asOf: { position: $position }) {
      stamp { position }
      run(id: $id) {
        id
        digest
        ranking { rank groupSize leader { id shortId ranking { rank } } }
      }
    }
  }
`;

graphql`
  query cachedNodeQuery($id: ID!) {
    node(id: $id) {
      id
      ... on Run {
        digest
        ranking { rank groupSize leader { id shortId ranking { rank } } }
      }
    }
  }
`;
