import type { ProcedureInput } from '../../../../shared/console/contract.ts'
import { MediaRefusal } from '../../../kit/media/media-refusal.ts'
import type { Answer, OfferExchange } from '../../../kit/media/sdp-exchange.ts'
import type { ConsoleClient } from '../../../kit/transport/client.ts'
import { CallError } from '../../../kit/transport/transport.ts'

/**
 * Watches a stream without joining its room. The page connects only to the controller, which forwards the offer to the
 * node.
 */
export async function watchStream(
  client: ConsoleClient,
  wish: ProcedureInput<'media.watch'>,
): Promise<{ session: string; answer: Answer }> {
  const { answer: sdp, session, offered } = await client.call('media.watch', wish).catch(refused)
  const { room_id } = wish
  const end = async (): Promise<void> => {
    // The session may have ended already, or the controller may be unreachable; the node then closes the session by
    // timeout.
    await client.call('media.unwatch', { room_id, session }).catch(() => {})
  }
  const answered = async (answer: string): Promise<void> => {
    await client.call('media.answer', { room_id, session, answer })
  }
  return { session, answer: { sdp, renewal: undefined, end, offered: offered ? answered : undefined } }
}

/** @throws MediaRefusal if the browser lacks the codec of the stream; otherwise the given error */
function refused(error: unknown): never {
  if (error instanceof CallError && error.refusal === 'previewCodec')
    throw new MediaRefusal(406, 'codec', 0, error.message)
  throw error
}

/** Returns the exchange of offers for a preview. */
export function previewExchange(client: ConsoleClient, room_id: string, stream_id: string): OfferExchange {
  return {
    iceServers: [],
    send: async (offer) => (await watchStream(client, { room_id, stream_id, offer })).answer,
  }
}
