import type { RecordingIndex } from '../recordings/recording-index.ts'
import type { SiteRecorder } from '../recordings/records/media-order-parts.ts'
import type { SiteRecordings } from '../recordings/site-recordings.ts'

/** The nodes of a site as its recorder. Where the folder cannot be used, nothing was recorded and every request is refused. */
export function recorderOf(recordings: SiteRecordings): SiteRecorder {
  const none = (): readonly [] => []
  const nothing: RecordingIndex = {
    ...{ segments: none, open: none, gaps: none, sources: none },
    segment: () => undefined,
    onChange: () => () => {},
  }
  return { folder: recordings.folder ?? '', index: recordings.index ?? nothing, requests: recordings }
}
