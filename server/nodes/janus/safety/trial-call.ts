import { errorCode, hasCode } from '../../../../shared/error-code.ts'
import { DeadlineError } from '../../port/deadline.ts'
import { NodeConnectionError } from '../../port/media-node-port.ts'
import { JanusError } from '../wire/janus-error.ts'

/** Describes why a node is unreachable, in a few words. Returns undefined if a server other than Janus answers. */
export function janusUnreachableReason(error: unknown): string | undefined {
  if (error instanceof DeadlineError) return 'no answer in time'
  if (!(error instanceof NodeConnectionError)) return undefined
  const { cause } = error
  for (const [code, words] of networkCodes) if (hasCode(cause, code)) return words
  const code = errorCode(cause)
  if (tlsCode.test(code)) return `its certificate is not trusted: ${code}`
  return undefined
}

const networkCodes = [
  ['ECONNREFUSED', 'the port is closed'],
  ['ENOTFOUND', 'the name is unknown'],
  ['EAI_AGAIN', 'the name is unknown'],
  ['EHOSTUNREACH', 'there is no route to it'],
  ['ENETUNREACH', 'there is no route to it'],
  ['ETIMEDOUT', 'no answer in time'],
  ['EADDRNOTAVAIL', 'there is no route to it'],
] as const
const tlsCode = /CERT|SIGNATURE|ALTNAME|SELF_SIGNED/

/**
 * Returns the error code with which Janus rejects a call; 0 if the call succeeds.
 * @throws any error that is no answer of Janus
 */
export async function janusErrorOf(call: Promise<unknown>): Promise<number> {
  try {
    await call
    return 0
  } catch (error) {
    if (error instanceof JanusError) return error.code
    throw error
  }
}
