import { CommandError, exitCodes, type RunCommand } from '../command.ts'
import { httpCall, NoReplyError } from './http-call.ts'
import { readOptions, type Target } from './options.ts'
import { signature, signatureForms } from './signature.ts'

/** The command `roomdesk conformance`. */
export const conformance: RunCommand = async ({ arguments: given, environment, signal, print }) => {
  const target = await readOptions(given, environment)
  for (const form of signatureForms) {
    if ((await signIn(target, signature(form, target.secretKey, target.accessKey), signal)) === 401) continue
    print(`Signed in at ${target.media.href} (${form}).`)
    return exitCodes.fine
  }
  throw new CommandError(`${target.media.href} does not accept this key pair: check --access-key and --secret-key.`)
}

async function signIn(
  { media, accessKey, authorities }: Target,
  digest: string,
  signal: AbortSignal,
): Promise<unknown> {
  const query = `access_key=${encodeURIComponent(accessKey)}&digest=${encodeURIComponent(digest)}`
  try {
    const call = { base: media, method: 'GET', target: `/rtc/auth/valid?${query}`, authorities }
    const { body } = await httpCall(call, signal)
    const answer: unknown = JSON.parse(body.toString('utf8'))
    return typeof answer === 'object' && answer !== null && 'ret' in answer ? answer.ret : undefined
  } catch (error) {
    if (!(error instanceof NoReplyError)) throw error
    throw new CommandError(`The server ${media.href} ${error.message}.`, { cause: error })
  }
}
