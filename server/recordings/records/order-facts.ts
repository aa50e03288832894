import type { LiveFacts, RecordingFacts } from '../../../shared/recording-operations.ts'
import type { StoredLive, StoredRecording } from '../../store/records.ts'
import type { LiveState } from '../live/ordered-lives.ts'
import type { OrderedState } from './ordered-recordings.ts'

/** Facts that recordings and live streams share. */
function commonFacts(order: StoredRecording | StoredLive) {
  const { id, room_id, user_id, name, tag, sound, picture, reason = '', created_at, ended_at = 0 } = order
  return { id, room_id, user_id, name, tag, description: '', sound, picture, reason, created_at, ended_at }
}

/** A recording as answers hold it. @param urlOf address of a file by its position */
export function recordingFactsOf(
  recording: StoredRecording,
  state: OrderedState,
  urlOf: (index: number) => string,
): RecordingFacts {
  const files = recording.files.map(({ file: _, ...facts }, index) => ({ url: urlOf(index), ...facts }))
  return { ...commonFacts(recording), description: recording.description, state, files }
}

/** A live stream as answers hold it. */
export function liveFactsOf(
  live: StoredLive,
  state: LiveState,
  urls: Pick<LiveFacts, 'page_url' | 'hls_url'>,
): LiveFacts {
  return { ...commonFacts(live), state, ...urls, rtmp_url: live.rtmp_url }
}
