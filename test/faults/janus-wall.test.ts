import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ConsoleUnderTest, openConsole } from '../support/sites/console-site.ts'
import { type Camera, startCamera } from '../support/camera/camera.ts'
import { type JanusServer, startJanus } from '../support/janus/janus-server.ts'

let janus: JanusServer
let site: ConsoleUnderTest
let camera: Camera
beforeAll(async () => {
  ;[janus, site, camera] = await Promise.all([
    startJanus({ tokenSecret: 'a secret that signs tokens' }),
    openConsole('headless'),
    startCamera({ pattern: 'smpte', width: 640, height: 360 }),
  ])
})
afterAll(async () => {
  await site[Symbol.asyncDispose]()
  await Promise.all([camera.kill(), janus[Symbol.asyncDispose]()])
})

test('the wall shows a camera and a room on a Janus server, and leaves the room when it closes', async () => {
  for (const { config } of await site.call('nodes.list')) await site.call('nodes.remove', { name: config.name })
  await site.call('nodes.add', janus.asNode())
  const { room_id: roomId } = await site.call('rooms.create', { topic: 'Entrances' })
  await site.call('devices.create', { roomId, userId: 'gate', userName: 'Gate', userAddress: camera.url('/cam') })
  await expect
    .poll(async () => (await site.call('devices.list')).map(({ state }) => state), { timeout: 20_000 })
    .toEqual(['joined'])
  const { page } = site
  await page.getByRole('link', { name: 'Wall' }).click()
  await page.getByRole('button', { name: 'Choose pictures' }).first().click()
  const picker = page.getByRole('dialog', { name: 'Choose pictures' })
  await picker.getByText('Gate · Entrances').click()
  await picker.getByText('Entrances', { exact: true }).click()
  await picker.getByRole('button', { name: 'Done' }).click()
  const frames = async (item: string): Promise<number> =>
    await page.evaluate<number>(
      `document.querySelector('[data-item="${item}"] [data-shown="true"] video')?.getVideoPlaybackQuality().totalVideoFrames ?? 0`,
    )
  for (const item of ['camera gate', `room ${roomId}`])
    await expect.poll(() => frames(item), { timeout: 30_000, message: item }).toBeGreaterThan(10)
  const inJanus = async (): Promise<number> => {
    const { list } = await janus.ask('videoroom', { request: 'list', admin_key: 'admin key' })
    return (list as { num_participants: number }[]).reduce((sum, room) => sum + room.num_participants, 0)
  }
  // The camera, and one hidden participant for both pictures.
  expect(await inJanus()).toBe(2)
  expect((await site.call('rooms.get', { room_id: roomId })).users.map(({ user_id }) => user_id)).toEqual(['gate'])
  await page.getByRole('link', { name: 'Events' }).click()
  await expect.poll(inJanus, { timeout: 30_000 }).toBe(1)
  expect(site.problems).toEqual([])
}, 120_000)
