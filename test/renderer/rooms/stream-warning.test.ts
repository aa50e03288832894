import { expect, test } from 'vitest'
import { streamWarning } from '../../../renderer/console/pages/rooms/useRoomMedia.ts'
import { i18n } from '../../../renderer/console/i18n/index.ts'
import type { StreamStats } from '../../../shared/media/stream-stats.ts'

const now = 100_000
const camera: StreamStats = {
  room_id: 'yard',
  stream_id: 'gate',
  user_id: 'gate',
  video_codec: 'H264',
  audio_codec: 'PCMA',
  counted: true,
  video_bytes: 1,
  audio_bytes: 1,
  frames: 1,
  key_frames: 1,
  last_key_frame_at: now,
  last_packet_at: now - 1_000,
  viewers: 0,
  b_frames: false,
  conversion: null,
  shortcomings: [],
}
const idle = { from: 'H.265', state: 'idle', problem: '' } as const

test.each<[string, Partial<StreamStats>, RegExp]>([
  ['a camera without a fault', {}, /^$/],
  ['transcoded H.265', { conversion: idle }, /^$/],
  [
    'H.265 without ffmpeg',
    {
      video_codec: 'H265',
      shortcomings: [{ kind: 'video', way: 'needs_ffmpeg', reason: 'h265', detail: 'H.265', recorded: true }],
    },
    /H\.265.*apt install ffmpeg.*set the device to H\.264.*It is recorded/,
  ],
  [
    'a camera without sound that browsers can play',
    { audio_codec: '', shortcomings: [{ kind: 'audio', way: 'none', reason: 'aac', detail: 'AAC', recorded: false }] },
    /AAC.*set the device to G\.711 or Opus.*is not recorded/,
  ],
  [
    'a sound that the camera refused, and a picture that is not recorded',
    {
      shortcomings: [
        { kind: 'video', way: 'not_recorded', reason: 'jpeg', detail: 'Motion JPEG', recorded: false },
        {
          ...{ kind: 'audio', way: 'refused', reason: 'refused', recorded: false },
          detail: '551 Option not supported to SETUP of track 2 (G.711 A-law)',
        },
      ],
    },
    /Motion JPEG.*To record it.*refused to send a track: 551 Option not supported to SETUP of track 2/,
  ],
  ['a silent one', { last_packet_at: now - 10_000 }, /no data arrives.*Check/],
  ['B-frames', { b_frames: true }, /B-frames.*Turn them off/],
  ['all transcoders in use', { conversion: { ...idle, state: 'waiting' } }, /Raise the limit/],
  ['sound alone', { video_codec: '' }, /no picture.*Turn on/],
])('%s: what the operator reads', (_what, sends, told) => {
  const { t } = i18n.global
  expect(streamWarning({ ...camera, ...sends }, true, now, (key, values) => t(key, values ?? {}))).toMatch(told)
})
