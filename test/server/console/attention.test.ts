import { expect, test } from 'vitest'
import { BusyWatch } from '../../../server/observe/figures/machine-load.ts'
import { startHeadless } from '../../support/headless.ts'
import { shared } from '../../support/fixtures.ts'

const server = shared(() => startHeadless({ site: { credentials: [], nodes: [{ name: 'lab', kind: 'simulated' }] } }))

test('plain HTTP for this machine only is not reported', async () => {
  const { attention } = await server().rpc('overview.get', {})
  expect(attention).not.toContainEqual(expect.objectContaining({ code: 'plainHttp' }))
})

test('a machine whose CPU is almost fully used for a minute is busy, until the load drops', () => {
  const watch = new BusyWatch()
  for (const [at, percent] of [
    [0, 99],
    [30, 95],
    [59, 99],
  ] as const)
    watch.take(percent, 1_000 + at * 1_000)
  expect(watch.busy).toBeUndefined()
  watch.take(99, 61_000)
  expect(watch.busy).toEqual({ percent: 99, since: 1_000 })
  watch.take(40, 66_000)
  expect(watch.busy).toBeUndefined()
  watch.take(Number.NaN, 71_000)
  expect(watch.busy).toBeUndefined()
})

const device = (userId: string, userAddress: string) => ({
  roomId: 'hall',
  userId,
  userName: `Camera ${userId}`,
  userAddress,
})
const downDevices = async () =>
  (await server().rpc('overview.get', {})).attention.filter(
    ({ code }) => code === 'deviceDown' || code === 'devicesDown',
  )

test('A few lost cameras have a line each, with their names; many are one line with their number and reasons, the worst first', async () => {
  await server().rpc('rooms.create', { topic: 'Hall', room_extend_id: 'hall' })
  await server().rpc('lab.device_trouble', {
    name: 'lab',
    rules: [
      { match: 'locked', kind: 'auth' },
      { match: 'gone', kind: 'unreachable' },
    ],
  })
  await server().rpc('devices.create', device('a', 'rtsp://10.0.0.1/locked'))
  await server().rpc('devices.create', device('b', 'rtsp://10.0.0.2/gone'))
  await expect.poll(downDevices).toHaveLength(2)
  expect(await downDevices()).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ level: 'warning', subject: 'a', name: 'Camera a', why: 'auth' }),
      expect.objectContaining({ level: 'warning', subject: 'b', name: 'Camera b', why: 'unreachable' }),
    ]),
  )
  for (const id of ['c', 'd']) await server().rpc('devices.create', device(id, `rtsp://10.0.0.3/locked-${id}`))
  await server().rpc('devices.create', device('e', 'rtsp://10.0.0.4/good'))
  await expect.poll(downDevices).toMatchObject([
    {
      level: 'error',
      code: 'devicesDown',
      count: 4,
      of: 5,
      reasons: [
        { kind: 'auth', count: 3 },
        { kind: 'unreachable', count: 1 },
      ],
      message: expect.stringContaining('4 of 5 devices are not joined. 3: The device refused the login') as unknown,
    },
  ])
  const [many] = await downDevices()
  expect(many?.since).toBeGreaterThan(Date.now() - 60_000)
})
