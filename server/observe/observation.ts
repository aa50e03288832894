import type { ApiName } from '../../shared/result-codes.ts'

/** One request as a listener answered it. Holds secrets in `params`: redact it before keeping it. */
export interface Observation {
  /** When it arrived, milliseconds since the epoch. */
  at: number
  api: ApiName
  /** Name of the operation; empty for a path or method that does not exist. */
  operation: string
  method: string
  /** Without the query. */
  path: string
  ret: number
  /** Milliseconds from the request's head to the answer. */
  duration: number
  /** Client address. */
  client: string
  /** access_key; empty when unknown. */
  credential: string
  /** room_id or roomId where the operation has one. */
  room: string
  params: ReadonlyMap<string, unknown>
  /** msg of a failure. */
  msg: string
  /** Why a digest or token was refused; for the operator only. */
  reason: string
  /** Its event was stored with its change. */
  isRecorded?: boolean | undefined
  /** Only clients of the original platform have this operation. */
  olderOnly?: boolean | undefined
  /** The answer, where it was made for clients of the original platform. Holds secrets. */
  answer?: string | undefined
}

/** Receives every answered request, on the hot path: it must be O(1) and must not throw. */
export interface RequestObserver {
  observe(observation: Observation): void
}

/** Joins several observers into one, called in this order. */
export function observers(...parts: readonly RequestObserver[]): RequestObserver {
  return {
    observe(observation) {
      for (const part of parts) part.observe(observation)
    },
  }
}
