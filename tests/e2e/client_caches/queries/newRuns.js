// A subscription that relay-compiler compiles; nothing runs this file.
import { graphql } from "relay-runtime";

graphql`
  subscription newRunsSubscription($after: LogCursor, $filter: RunFilter) {
    newRuns(after: $after, filter: $filter) {
      __typename
      ... on LogMessage {
        cursor
        position
      }
      ... on NewRun {
        run {
          id
          digest
          ranking {
            rank
          }
        }
      }
    }
  }
`;
