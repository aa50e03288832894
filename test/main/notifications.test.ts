import { beforeEach, expect, test, vi } from 'vitest'
import { nodeConfigSchema } from '../../shared/node.ts'
import { DownNotifications } from '../../main/notifications.ts'
import { textsFor } from '../../main/texts.ts'
import type { DeviceView } from '../../shared/domain/devices.ts'
import type { NodeView } from '../../shared/domain/nodes.ts'

const english = textsFor('en', '')
let told: string[]
let isVisible: boolean
let notifications: DownNotifications

beforeEach(() => {
  vi.useFakeTimers()
  told = []
  isVisible = false
  notifications = new DownNotifications({
    texts: () => english,
    isVisible: () => isVisible,
    show: (text) => void told.push(text),
  })
})

const node = (name: string, state: NodeView['state']): NodeView => ({
  config: nodeConfigSchema.parse({ name, kind: 'simulated' }),
  secrets: [],
  state,
  draining: false,
  rooms: 0,
  users: 0,
  devices: 0,
  pulls: 0,
  rooms_left: 0,
  drain: null,
  last_error: '',
  since: 0,
  program: null,
  unsteady: null,
  drift: { counts: { roomMissing: 0, roomUnknown: 0, cameraMissing: 0, cameraUnknown: 0 }, last: null },
  version: '',
})
const device = (userId: string, state: DeviceView['state']): DeviceView => ({
  roomId: '1',
  roomTopic: 'Yard',
  userId,
  userName: `Camera ${userId}`,
  userAddress: 'rtsp://10.0.0.1',
  userData: '',
  options: {},
  tags: [],
  state,
  last_error: null,
  retries: 0,
  next_attempt_at: 0,
  since: 0,
  created_at: 0,
  version: '',
})
const soon = () => vi.advanceTimersByTimeAsync(2_500)

test('one notification reports a node that goes offline while nobody looks', async () => {
  notifications.nodes([node('Hall', 'online')])
  notifications.nodes([node('Hall', 'offline')])
  notifications.nodes([node('Hall', 'offline')])
  await soon()
  expect(told).toEqual(['MCU node Hall is offline.'])
})

test('a node that was never up, or was disabled, is not reported', async () => {
  notifications.nodes([node('New', 'connecting'), node('Old', 'online')])
  notifications.nodes([node('New', 'offline'), node('Old', 'disabled')])
  await soon()
  expect(told).toEqual([])
})

test('a short outage is not reported', async () => {
  notifications.devices([device('a', 'joined')])
  notifications.devices([device('a', 'waiting')])
  notifications.devices([device('a', 'joined')])
  await soon()
  expect(told).toEqual([])
})

test('a notification reports a device that drops, not one that is paused or removed', async () => {
  notifications.devices(['a', 'b', 'c'].map((userId) => device(userId, 'joined')))
  notifications.devices([device('a', 'waiting'), device('b', 'paused')], ['c'])
  await soon()
  expect(told).toEqual(['Device Camera a was lost; Roomdesk is reconnecting it.'])
})

test('several devices that drop together are one notification', async () => {
  const ids = Array.from({ length: 50 }, (_, index) => String(index))
  notifications.devices(ids.map((userId) => device(userId, 'joined')))
  for (const userId of ids) notifications.devices([device(userId, 'waiting')])
  await soon()
  expect(told).toEqual(['50 devices were lost; Roomdesk is reconnecting them.'])
})

test('a user who sees the console gets no notification', async () => {
  isVisible = true
  notifications.nodes([node('Hall', 'online')])
  notifications.nodes([node('Hall', 'offline')])
  await soon()
  expect(told).toEqual([])
})
