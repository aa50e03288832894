import { NoAnswerError } from './errors.ts'
import type { OperationName } from './operations.ts'

/** Answer of the API: the result code, and the fields beside it. */
export interface Answer {
  ret: number
  fields: Readonly<Record<string, unknown>>
}

interface Exchange {
  operation: OperationName
  url: string
  /** Maximum time for the answer, in milliseconds. */
  timeoutMs: number
  fetch: typeof fetch
  signal: AbortSignal | undefined
}

/**
 * Sends a request once, and reads its answer.
 * @throws NoAnswerError; the reason of the signal if it has aborted
 */
export async function exchange({ operation, url, timeoutMs, fetch, signal }: Exchange): Promise<Answer> {
  const timeout = AbortSignal.timeout(timeoutMs)
  const both = signal === undefined ? timeout : AbortSignal.any([signal, timeout])
  let status: number
  let text: string
  try {
    const response = await fetch(url, { signal: both, cache: 'no-store', credentials: 'omit' })
    status = response.status
    text = await response.text()
  } catch (error) {
    signal?.throwIfAborted()
    const message = timeout.aborted ? `no answer within ${timeoutMs / 1_000} s` : 'the request failed'
    throw new NoAnswerError(operation, message, { cause: error })
  }
  const answer = status === 200 ? readAnswer(text) : undefined
  if (answer === undefined) throw new NoAnswerError(operation, `HTTP ${status} without an answer of the API`)
  return answer
}

/** Reads the body of an answer; undefined: it is not an answer of the API. */
function readAnswer(text: string): Answer | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // The page of a proxy, for example.
    return undefined
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const { ret, ...fields } = value as Record<string, unknown>
  return typeof ret === 'number' ? { ret, fields } : undefined
}
