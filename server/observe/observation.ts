import type { IncomingMessage } from 'node:http'
import type { ApiName } from '../../shared/result-codes.ts'

/** One request and its answer. `params` contains secrets, and must be redacted before it is stored. */
export interface Observation {
  /** Time of arrival, in milliseconds since the epoch. */
  at: number
  api: ApiName
  /** Name of the operation; empty: the path or method does not exist. */
  operation: string
  method: string
  /** Path of the request, without the query. */
  path: string
  ret: number
  /** Milliseconds from the request's headers to the answer. */
  duration: number
  client: string
  /** access_key of the caller; empty: unknown. */
  credential: string
  /** room_id or roomId of the request; empty: none. */
  room: string
  params: ReadonlyMap<string, unknown>
  /** Message of a failure. */
  msg: string
  /** Reason for the refusal of a digest or token; for the operator only. */
  reason: string
  /** Whether the event of the request was stored in the transaction of its change. */
  isRecorded?: boolean | undefined
  /** Whether only clients of the original platform have this operation. */
  olderOnly?: boolean | undefined
  /** JSON text of the answer; undefined: the answer is a page. Contains secrets. */
  text?: string | undefined
  /** Whether the answer was made for clients of the original platform. */
  forOlderClients?: boolean | undefined
  /** The request itself, for its headers and connection; must not be kept. Undefined: no API port received it. */
  request?: IncomingMessage | undefined
}

/** A request without an answer. */
export type DroppedObservation = Omit<Observation, 'ret'>

/** Receives every answered request. An implementation must be O(1) and must not throw. */
export interface RequestObserver {
  observe(observation: Observation): void
  /** Receives a request whose connection a fault of the lab closed instead of answering. */
  observeDropped?(observation: DroppedObservation): void
}

/** Combines several observers into one that calls them in order. */
export function observers(...parts: readonly RequestObserver[]): RequestObserver {
  return {
    observe(observation) {
      for (const part of parts) part.observe(observation)
    },
    observeDropped(observation) {
      for (const part of parts) part.observeDropped?.(observation)
    },
  }
}
