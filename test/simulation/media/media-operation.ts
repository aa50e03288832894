import type { Context } from 'koa'
import { ApiError } from '../../../shared/result-codes.ts'
import type { MediaOrderDependencies } from '../../../server/recordings/client-recordings/media-orders.ts'
import { type LeaderDuties, recordedUser } from './leader-duties.ts'

/** What a client orders: a recording of a whole room, or a live stream of its user. */
export type MediaKind = 'recordings' | 'lives'

/** Request about a recording or a live stream. */
export type MediaOperation =
  | { kind: 'order'; media: MediaKind; key: string; tag: string }
  | { kind: 'stop' | 'remove' | 'look'; media: MediaKind; key: string }
  /** The button that records a room. */
  | { kind: 'press'; key: string }
  | { kind: 'release'; key: string }
  /** The page of a live stream. Only the site can make its token, and what that looks like is not the same in each run. */
  | { kind: 'page'; key: string; token: string }

/** Answer: how far it is. */
export interface MediaAnswer {
  version: number
  /** Id of what was ordered, and the token of its page. */
  order?: { id: string; token: string }
}

/** How far a recording or live stream is: it only rises. */
export const stages = { ordered: 1, ended: 2, removed: 3 } as const

/** Whoever presses the button that records a room. */
const presser = { by: 'operator', name: '' } as const

/** Does what a client asks, by the real parts. @throws ApiError */
export async function carryOutMedia(
  { media, wishes }: Pick<LeaderDuties, 'media' | 'wishes'>,
  operation: MediaOperation,
): Promise<MediaAnswer> {
  if (operation.kind === 'press' || operation.kind === 'release') {
    const wish = { roomId: operation.key }
    if (operation.kind === 'press') await wishes.add(wish, presser, 0)
    else await wishes.remove(wish, presser)
    return { version: 0 }
  }
  if (operation.kind === 'page') return { version: await pageStage(media, operation.token) }
  const { recordings, lives } = media.orders
  const { key } = operation
  const part = operation.media === 'recordings' ? recordings : lives
  if (operation.kind === 'order') {
    const wish = { room_id: key, tag: operation.tag, picture: 'main', maker: { type: 'site' } } as const
    if (operation.media === 'lives') {
      const live = await lives.begin({ ...wish, user_id: recordedUser, sound: 'own', rtmp_url: '', hls_url: '' })
      return { version: stages.ordered, order: { id: live.id, token: lives.tokenOf(live) } }
    }
    const { id } = await recordings.begin({ ...wish, user_id: '', sound: 'own' })
    return { version: stages.ordered, order: { id, token: '' } }
  }
  try {
    if (operation.kind === 'remove') {
      if (operation.media === 'recordings') await recordings.stored.delete(key)
      else await lives.delete(key)
      return { version: stages.removed }
    }
    const { state } = operation.kind === 'stop' ? await part.end(key) : part.stored.get(key)
    return { version: state === 'recording' || state === 'living' ? stages.ordered : stages.ended }
  } catch (error) {
    if (error instanceof ApiError && error.code === 'recordingNotFound') return { version: stages.removed }
    throw error
  }
}

/** Asks the real page what it shows; it proves by itself that this controller leads. A stream that was removed looks to it like one that ended. */
async function pageStage({ pages }: MediaOrderDependencies, token: string): Promise<number> {
  const context = {
    ...{
      method: 'GET',
      path: `/live/${token}/stream.json`,
      query: { after: '-1' },
      req: { socket: { remoteAddress: '127.0.0.1' } },
      status: 404,
      body: '',
    },
    ...{ type: '', set: () => undefined, res: { once: () => undefined, destroy: () => undefined } },
  }
  await pages['GET /live/:token/:file'](context as unknown as Context, async () => undefined)
  if (context.status === 503) throw new Error(context.body)
  if (context.body === '') return stages.ended
  const { state } = JSON.parse(context.body) as { state: string }
  return state === 'over' ? stages.ended : stages.ordered
}
