import { errorCode, hasCode } from '../../../../shared/error-code.ts'
import { DeadlineError } from '../../port/deadline.ts'
import { NodeConnectionError } from '../../port/media-node-port.ts'
import { JanusError } from '../wire/janus-error.ts'

/** Why nobody answers, in a few words; undefined where somebody does, but not Janus. */
export function whyUnreachable(error: unknown): string | undefined {
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
  ['EHOSTUNREACH', 'there is no way to it'],
  ['ENETUNREACH', 'there is no way to it'],
  ['ETIMEDOUT', 'no answer in time'],
  ['EADDRNOTAVAIL', 'there is no way to it'],
] as const
const tlsCode = /CERT|SIGNATURE|ALTNAME|SELF_SIGNED/

/** The number with which Janus refuses a call; 0: it did what it was asked. @throws what is no answer of Janus */
export async function refusalOf(call: Promise<unknown>): Promise<number> {
  try {
    await call
    return 0
  } catch (error) {
    if (error instanceof JanusError) return error.code
    throw error
  }
}
