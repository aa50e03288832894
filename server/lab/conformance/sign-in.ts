import { CommandError } from '../command.ts'
import type { Answer } from './answer.ts'
import type { ApiClient } from './client.ts'
import { NoReplyError } from './http-call.ts'
import { signatureForms } from './signature.ts'

/**
 * Opens the session of a run, in the first form that the server accepts.
 * @throws CommandError with one sentence that says what to correct
 */
export async function openSession(client: ApiClient, signal: AbortSignal): Promise<void> {
  const { media, device } = client.target
  for (const form of signatureForms) {
    const { answer, token } = await answered(client.signIn(form, signal), media)
    if (answer.ret === undefined) throw notApi(media, 'media room API', answer)
    if (answer.ret !== 0 && answer.ret !== 401)
      throw new CommandError(`${media.href} cannot authenticate now: ${answer.exchange.came}`)
    if (answer.ret === 401) {
      client.refusedForms.add(form)
      continue
    }
    if (token === '') throw new CommandError(`${media.href} opened no session: ${answer.exchange.came}`)
    client.token = token
    client.form = form
    const list = await answered(client.call('list_outgoing_users', { roomId: client.newId() }, {}, signal), device)
    if (list.ret === undefined) throw notApi(device, 'external device API', list)
    return
  }
  throw new CommandError(
    `${media.href} does not accept this key pair: check --access-key and --secret-key; after many failures wait a minute.`,
  )
}

function notApi(url: URL, api: string, { reply, exchange }: Answer): CommandError {
  const { location } = reply.headers
  const reason = location === undefined ? exchange.came : `it redirects to ${location}`
  return new CommandError(`${url.href} is not the ${api}: ${reason}`)
}

async function answered<T>(work: Promise<T>, url: URL): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof NoReplyError)) throw error
    throw new CommandError(`The server ${url.href} ${error.message}.`, { cause: error })
  }
}
