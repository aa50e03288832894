import { expect, test } from 'vitest'
import RoomStreams from '../../../renderer/console/pages/rooms/RoomStreams.vue'
import type { ConsoleClient } from '../../../renderer/kit/transport/client.ts'
import { pageText, says, show } from '../devices/operator-page.ts'

const stream = {
  room_id: '1',
  stream_id: 'ann',
  user_id: 'ann',
  video_codec: 'H264',
  audio_codec: 'OPUS',
  video_bytes: 0,
  audio_bytes: 0,
  frames: 0,
  key_frames: 0,
  last_key_frame_at: 0,
  last_packet_at: 0,
  viewers: 0,
  b_frames: false,
  conversion: null,
  shortcomings: [],
  bitrate: 0,
  fps: 0,
}
const nobody = {} as unknown as ConsoleClient

test('a stream on a Janus server shows no numbers instead of zeros', async () => {
  const shown = show(RoomStreams, nobody, {
    room: { room_id: '1', room_mode: 1 },
    users: [],
    streams: [{ ...stream, counted: false }],
  })
  await says('Sent by the Janus server directly: not counted here')
  expect(pageText()).not.toMatch(/kbit|fps|viewers/)
  await shown.setProps({ streams: [{ ...stream, counted: true }] })
  await says('0 kbit/s')
})
