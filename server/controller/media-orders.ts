import type { RecordingIndex } from '../recordings/recording-index.ts'
import { SegmentFiles } from '../recordings/playback/segment-sources.ts'
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
  return {
    segments: recordings.files ?? new SegmentFiles(''),
    index: recordings.index ?? nothing,
    requests: recordings,
    recovered: () => recordings.recovered(),
    budget: recordings.space?.budget ?? { claim: () => Promise.resolve(undefined) },
  }
}
