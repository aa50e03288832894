// A site as an operator might have it, for the pictures: rooms with people, cameras of which some are in trouble, clients that call.
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiClient } from '../test/support/api-client.ts'
import { startCamera } from '../test/support/camera/camera.ts'

export const credentials = [
  { label: 'Reception kiosk', access_key: 'reception-kiosk', secret_key: 'picture-secret-1', p2p: false },
  { label: 'Video wall', access_key: 'video-wall', secret_key: 'picture-secret-2', p2p: false },
  { label: 'Mobile app', access_key: 'mobile-app', secret_key: 'picture-secret-3', p2p: true },
  { label: '远程会诊平台', access_key: 'tele-consult', secret_key: 'picture-secret-4', p2p: true },
  { label: 'Old intercom', access_key: 'old-intercom', secret_key: 'picture-secret-5', p2p: false, enabled: false },
]

/** The site file. */
export const site = {
  credentials,
  nodes: [{ name: 'This machine', kind: 'embedded', addresses: [{ tag: 'local', addr: '127.0.0.1:7082' }] }],
  licence: { expires_at: '2031-12-31', max_rooms: 0, max_users: 500 },
}

const topics = [
  'Morning round, ward 3',
  'Control room',
  '每日例会',
  'Warehouse gate',
  'Visitors, main entrance',
  'Training: new starters',
  '远程会诊 心内科',
  'Loading dock B',
  'Incident 2217',
  'Board meeting',
  'Night shift handover',
  '培训室 2',
  'Lab 4 observation',
  'Customer support, tier 2',
  'Parking level −1',
  'Crane 7',
  'Weekly planning',
  '值班室',
  'Interview room 1',
  'Quality review',
  'Evening round, ward 3',
  'Server room',
  '项目评审',
  'Cold store',
  'Deliveries, rear entrance',
  'First aid drill',
  '远程会诊 神经内科',
  'Loading dock A',
  'Incident 2218',
  'Works council',
  'Early shift handover',
  '培训室 1',
  'Lab 2 observation',
  'Customer support, tier 1',
  'Parking level −2',
  'Crane 5',
  'Sprint planning',
  '消防控制室',
  'Interview room 2',
  'Budget 2027',
]
const people = [
  'Ann Keller',
  '王伟',
  'Jonas Berg',
  'Mira Patel',
  '李娜',
  'Tom Ashby',
  'Sofia Rossi',
  '张敏',
  'Erik Lund',
  'Grace Otieno',
]
const cameras = [
  ['gate-north', 'Gate north', '10.20.4.31/h264/ch1/main/av_stream'],
  ['gate-south', 'Gate south', '10.20.4.32/h264/ch1/main/av_stream'],
  ['dock-b-left', 'Dock B, left', '10.20.4.41:8554/stream1'],
  ['dock-b-right', 'Dock B, right', '10.20.4.42:8554/stream1'],
  ['entrance-hall', 'Entrance hall', 'cam-hall.site.example/live/0'],
  ['corridor-east', '走廊东侧', '10.20.5.11/Streaming/Channels/101'],
  ['corridor-west', '走廊西侧', '10.20.5.12/Streaming/Channels/101'],
  ['crane-7-hook', 'Crane 7, hook', '10.20.6.7/axis-media/media.amp'],
  ['lab-4-bench', 'Lab 4, bench', '10.20.7.4/live'],
  ['roof', 'Roof', '10.20.4.99/stream1'],
]

/**
 * Fills a running controller. Rooms with people are on simulated nodes, because nobody sits here; two cameras are real.
 * @param {import('../test/support/headless.ts').Headless} controller
 * @returns what is shown in detail, and how to end the cameras
 */
export async function fillSite(controller) {
  const real = [
    await startCamera({
      host: '127.0.0.1',
      auth: 'digest',
      user: 'viewer',
      password: 'for-pictures',
      pattern: 'smpte',
    }),
    await startCamera({ host: '127.0.0.1', pattern: 'ball' }),
  ]
  const call = (name, input) => controller.rpc(name, input)
  const control = await call('rooms.create', {
    topic: 'Control room',
    owner_id: 'duty-desk',
    room_extend_id: '700100200',
  })
  for (const [index, camera] of real.entries()) {
    await call('devices.create', {
      roomId: control.room_id,
      userId: `control-${index + 1}`,
      userName: index === 0 ? 'Test picture' : 'Yard, east',
      userAddress: camera.url('/cam'),
      ...(index === 0 ? { login_name: 'viewer', login_password: 'for-pictures' } : {}),
      join: 'required',
    })
  }
  const isJoined = ({ userId, state }) => !userId.startsWith('control-') || state === 'joined'
  while (!(await call('devices.list', {})).every(isJoined)) await sleep(500)
  await call('recordings.start', { room_id: control.room_id })
  await call('orders.record', {
    room_id: control.room_id,
    user_id: 'control-2',
    name: 'Yard, night shift',
    tag: 'security',
  })
  await call('orders.stream', { room_id: control.room_id, user_id: 'control-1' })
  await call('nodes.drain', { name: 'This machine' })
  for (const [name, idc_code, addr] of [
    ['Hall 2', 'north', '10.20.0.21:7082'],
    ['Annex', 'south', '10.20.0.22:7082'],
  ]) {
    await call('nodes.add', {
      name,
      kind: 'simulated',
      idc_code,
      max_rooms: 200,
      max_users: 400,
      addresses: [{ tag: 'local', addr }],
    })
  }
  await call('lab.device_trouble', {
    name: 'Annex',
    rules: [
      { match: '10.20.4.99', kind: 'unreachable' },
      { match: '10.20.5.12', kind: 'auth' },
    ],
  })
  await call('lab.device_trouble', {
    name: 'Hall 2',
    rules: [
      { match: '10.20.4.99', kind: 'unreachable' },
      { match: '10.20.5.12', kind: 'auth' },
    ],
  })
  const clients = await signIn(controller)
  await call('backups.make', {})
  const rooms = await makeRooms(call, clients)
  // Something for the trash.
  for (const topic of ['Visit of the fire brigade', '临时会议', 'Test of the new camera']) {
    const { room_id } = await call('rooms.create', { topic })
    await call('rooms.delete', { room_ids: [room_id] })
  }
  await call('backups.make', {})
  await call('nodes.undrain', { name: 'This machine' })
  const camera = (id) => ({ kind: 'camera', id })
  const wall = await call('wall.save', {
    name: 'Entrances and yards',
    items: [camera('control-1'), camera('control-2'), { kind: 'room', id: control.room_id }, camera('roof')],
  })
  return {
    room: rooms[0],
    device: 'control-1',
    recorded: control.room_id,
    wall: wall.id,
    node: 'Hall 2',
    credential: 'mobile-app',
    clients,
    rooms,
    end: () => Promise.all(real.map((camera) => camera.kill())),
  }
}

/** Rooms that clients and the operator made, with people and cameras in some. */
async function makeRooms(call, clients) {
  const made = []
  for (const [index, topic] of topics.entries()) {
    const client = clients[index % clients.length]
    made.push(await client.createRoom({ topic, owner_id: `staff-${100 + index}`, room_mode: 1 + (index % 2) }))
    const someone = index % 3 === 2 ? 0 : 1 + ((index * 5) % 7)
    for (let seat = 0; seat < someone; seat++) {
      const user_name = people[(index + seat * 3) % people.length]
      await call('lab.join', { room_id: made[index], user_id: `u-${index}-${seat}`, user_name })
    }
  }
  for (const [index, [userId, userName, address]] of cameras.entries()) {
    await call('devices.create', {
      roomId: made[(index * 3) % 12],
      userId,
      userName,
      userAddress: `rtsp://${address}`,
      ...(index % 2 === 0 ? { login_name: 'viewer', login_password: 'for-pictures' } : {}),
    })
  }
  await call('rooms.lock', { room_ids: [made[1], made[9]] })
  await call('rooms.close', { room_ids: [made[14]] })
  return made
}

/** Clients of the API, each with a credential of the site. */
async function signIn(controller) {
  const { media, device } = controller.ready
  const clients = []
  for (const credential of credentials.filter(({ enabled }) => enabled !== false)) {
    const client = new ApiClient({ media, device }, credential)
    await client.authenticate()
    clients.push(client)
  }
  return clients
}

/** Calls as clients do, some of them in vain, until `signal` says that it is enough. */
export async function callUntil(controller, { clients, rooms }, signal) {
  const stranger = new ApiClient(controller.ready, { access_key: 'mobile-app', secret_key: 'not-the-secret' })
  for (let turn = 0; !signal.aborted; turn++) {
    const client = clients[turn % clients.length]
    const room_id = rooms[(turn * 7) % rooms.length]
    await client.get('/rtc/room/get', { room_id })
    await client.get('/rtc/room/get_room_info', { room_id })
    if (turn % 3 === 0) await client.get('/sdk/get_mcu', { room_id })
    if (turn % 4 === 0) await client.outgoing('getOutgoingUsers', { roomId: room_id })
    if (turn % 9 === 0) await client.get('/rtc/room/get', { room_id: '404404404' })
    if (turn % 23 === 0) await client.get('/rtc/room/get', { room_id }, 'an-old-token')
    if (turn % 41 === 0) await stranger.authenticate()
    // Quieter and busier minutes.
    await sleep(110 + 50 * Math.sin(turn / 170) + 25 * Math.sin(turn / 23))
  }
}
