import type { ProcedureInput } from '../../../../shared/console/contract.ts'
import { lacksCodec, MediaRefusal } from '../../../kit/media/media-refusal.ts'
import type { Answer, OfferExchange } from '../../../kit/media/sdp-exchange.ts'
import type { ConsoleClient } from '../../../kit/transport/client.ts'
import { CallError } from '../../../kit/transport/transport.ts'
import { NoWebRtcError } from '../../../kit/media/has-webrtc.ts'
import type { PlayerState } from '../../../kit/media/live-player.ts'
import { useFeedback } from '../../composables/useFeedback.ts'
import { useText } from '../../i18n/text.ts'

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

/** Returns a function that describes why a live picture is missing; empty: it is shown or being connected. */
export function usePictureProblem(): (state: PlayerState, reason: unknown) => string {
  const { t } = useText()
  const { errorText } = useFeedback()
  return (state, reason) => {
    if (reason instanceof NoWebRtcError) return t('media.picture.noWebRtc')
    if (lacksCodec(reason)) return t(state === 'connected' ? 'media.picture.soundOnly' : 'media.picture.codec')
    if (state !== 'waiting' && state !== 'refused') return ''
    return reason instanceof CallError && reason.code !== 'offline' ? errorText(reason) : t('media.picture.waiting')
  }
}
