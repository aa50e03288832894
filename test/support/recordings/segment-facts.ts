import { segmentPath } from '../../../shared/recordings/segment-path.ts'
import type { RecordedStream, Segment, SegmentStart } from '../../../shared/recordings/segment.ts'

/** A camera's stream. */
export function cameraStream(userId: string, roomId = '1001'): RecordedStream {
  return { roomId, userId, source: 'main', quality: 'main' }
}

/** A segment of a camera that begins at a moment. */
export function beginning(
  stream: RecordedStream,
  startedAt: number,
  changes: Partial<SegmentStart> = {},
): SegmentStart {
  return {
    ...stream,
    file: segmentPath(stream, startedAt, 'mp4'),
    container: 'mp4',
    userName: `Camera ${stream.userId}`,
    topic: 'Weekly',
    device: true,
    startedAt,
    senderStartedAt: startedAt - 40,
    videoCodec: 'avc1.64001f',
    audioCodec: 'opus',
    width: 1280,
    height: 720,
    ...changes,
  }
}

/** That segment when it is complete, a minute long. */
export function complete(start: SegmentStart, changes: Partial<Segment> = {}): Segment {
  return { ...start, endedAt: start.startedAt + 60_000, bytes: 15_000_000, end: 'length', ...changes }
}
