import { digestForms } from '../../../shared/settings/network.ts'
import { CommandError } from '../command.ts'
import type { Answer } from './answer.ts'
import type { ApiClient } from './client.ts'
import { NoReplyError } from '../client/http-call.ts'
import { codeOf, wellFormed } from './operations.ts'

/** Notice about a server that answers as clients of the original platform expect (contract, section 5). */
const olderClients =
  'This server serves clients of the original platform, so some answers differ by design: switch compatibility.older_clients off for this run.'

/**
 * Opens the session of a run, in the first form that the server accepts.
 * @returns a notice for the operator; undefined: none
 * @throws CommandError with one sentence that says what to correct
 */
export async function openSession(client: ApiClient, signal: AbortSignal): Promise<string | undefined> {
  const { media, device } = client.target
  for (const form of digestForms) {
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
    await requireRooms(client, signal)
    return 'result' in list.fields ? olderClients : undefined
  }
  throw new CommandError(
    `${media.href} does not accept this key pair: check --access-key and --secret-key; after many failures wait a minute.`,
  )
}

/** Requires that the site makes rooms: most rules need one. @throws CommandError if its licence prevents that */
async function requireRooms(client: ApiClient, signal: AbortSignal): Promise<void> {
  const params = { ...wellFormed('create_room', ''), room_extend_id: client.newId() }
  const { ret, exchange } = await answered(client.call('create_room', params, {}, signal), client.target.media)
  const prevented = (['licenceExpired', 'licenceExceeded'] as const).some(
    (error) => ret === codeOf('create_room', error),
  )
  if (prevented)
    throw new CommandError(`${client.target.media.href} makes no rooms, which the rules need: ${exchange.came}`)
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
