import { NoWebRtcError } from '../../../kit/media/has-webrtc.ts'
import type { PlayerState } from '../../../kit/media/live-player.ts'
import { lacksCodec } from '../../../kit/media/media-refusal.ts'
import { CallError } from '../../../kit/transport/transport.ts'
import { useFeedback } from '../../composables/useFeedback.ts'
import { useText } from '../../i18n/text.ts'

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
