import { expect, test } from 'vitest'
import RoomPeople from '../../../renderer/console/pages/rooms/RoomPeople.vue'
import AppMenu from '../../../renderer/kit/menu/AppMenu.vue'
import { showLanguage } from '../../../renderer/console/i18n/index.ts'
import type { ConnectionStats } from '../../../shared/media/stream-stats.ts'
import { answeringConsole } from '../answering-console.ts'
import { pageText, says, show } from '../devices/operator-page.ts'
import type { RoomUserView } from '../../../shared/domain/rooms.ts'

const user = (user_id: string): RoomUserView => ({
  user_id,
  user_name: user_id,
  role: 'member',
  device: false,
  by_number: false,
  hand: 0,
  joined_at: 0,
})
const connection = (user_id: string, speaking: boolean): [string, ConnectionStats] => [
  user_id,
  { room_id: '1', user_id, signal: true, speaking, audio: true, video: false, peers: [] },
]

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
/** A controller that does not answer. */
const silent = answeringConsole(() => new Promise(() => undefined))

test('the list of a room marks users while they speak', async () => {
  const users = [user('ann'), user('bo')]
  const shown = show(RoomPeople, silent, {
    room: { room_id: '1', room_mode: 1 },
    users,
    streams: [],
    connections: new Map([connection('ann', false), connection('bo', true)]),
  })
  const speaking = (): boolean[] => shown.findAll('li').map((row) => row.text().includes('speaking'))
  expect(speaking()).toEqual([false, true])
  await shown.setProps({ connections: new Map([connection('ann', true), connection('bo', false)]) })
  expect(speaking()).toEqual([true, false])
  await showLanguage('zh')
  await says('正在发言')
  await showLanguage('en')
  // While the node does not answer nobody is marked.
  await shown.setProps({ connections: new Map() })
  expect(speaking()).toEqual([false, false])
})

test('a stream on a Janus server is listed with its user and without numbers, instead of zeros', async () => {
  const shown = show(RoomPeople, silent, {
    room: { room_id: '1', room_mode: 1 },
    users: [user('ann'), user('bo')],
    streams: [{ ...stream, counted: false }],
    connections: new Map(),
  })
  await says('Sent by the Janus server directly: not counted here')
  expect(pageText()).not.toMatch(/kbit|fps|viewers/)
  const [ann, bo] = shown.findAll('li').map((row) => row.text())
  expect(ann).toMatch(/Microphone on.*Camera on.*H264 \+ OPUS/)
  expect(bo).not.toMatch(/Microphone|H264/)
  await shown.setProps({ streams: [{ ...stream, counted: true }] })
  await says('0 kbit/s')
})

test('an operator mutes a user who sends, but not a camera, and reads that it was done', async () => {
  const calls: [string, unknown][] = []
  const client = answeringConsole((name, input) => {
    if (name === 'account.me') return { role: 'operator' }
    if (!name.startsWith('rooms.')) return new Promise(() => undefined)
    calls.push([name, input])
    return {}
  })
  const shown = show(RoomPeople, client, {
    room: { room_id: '1', room_mode: 1 },
    users: [user('ann'), { ...user('yard'), device: true }],
    streams: [],
    connections: new Map([connection('ann', false)]),
  })
  const actsOf = (name: string): string[] =>
    shown
      .findAllComponents(AppMenu)
      .find((menu) => menu.props('label').endsWith(name))
      ?.props('items')
      .map(({ key }) => key) ?? []
  await expect.poll(() => actsOf('ann')).toEqual(['mute', 'record', 'stream', 'events', 'kick'])
  expect(actsOf('yard')).toEqual(['record', 'stream', 'events', 'kick'])
  shown.findAllComponents(AppMenu)[0]?.vm.$emit('choose', 'mute')
  await says('ann was muted')
  expect(calls).toEqual([['rooms.mute', { room_id: '1', user_id: 'ann' }]])
})
