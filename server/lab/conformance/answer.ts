import type { HttpReply } from '../client/http-call.ts'
import type { ShownExchange } from './verdict.ts'

/** Answer to a call. */
export interface Answer {
  /** Result code; undefined: the answer cannot be read as the contract requires. */
  ret: number | undefined
  /** All fields; empty if the body is not a JSON object. */
  fields: Readonly<Record<string, unknown>>
  reply: HttpReply
  /** Body as text; bytes that are not UTF-8 are replaced. */
  text: string
  exchange: ShownExchange
}
