import { expect, onTestFinished, test, vi } from 'vitest'
import { shared } from '../../support/fixtures.ts'
import { MediaSite } from '../../support/sites/media-site.ts'
import { step } from '../../support/step.ts'

/** A site with one group, which no test changes. */
const quiet = shared(() =>
  MediaSite.start({ lab: { people: [{ name: 'file', people: 1, send: 'nothing', watch: 0 }] } }),
)

const group = async (site: MediaSite, name: string) =>
  (await site.rpc('lab.people', {})).find((one) => one.name === name)
const present = async (site: MediaSite, name: string, count: number): Promise<void> => {
  await vi.waitFor(async () => expect((await group(site, name))?.counts.present).toBe(count), 40_000)
}

test('a group of the site file arrives at the start', async () => {
  await present(quiet(), 'file', 1)
})

test('a group is made, moderated, changed, restarted and removed', async () => {
  let site = await MediaSite.start()
  onTestFinished(() => site[Symbol.asyncDispose]())

  await step('it arrives in rooms of its own, with media, and is counted', async () => {
    const made = await site.rpc('lab.put_people', { name: 'lobby', people: 4, rooms: 2 })
    expect(made).toMatchObject({ runs: true, in_rooms: ['test-people-lobby-1', 'test-people-lobby-2'] })
    await present(site, 'lobby', 4)
    const { room, users } = await site.rpc('rooms.get', { room_id: 'test-people-lobby-1' })
    expect(room.people).toBe(2)
    expect(users.map(({ user_id }) => user_id).toSorted()).toEqual(['test-person-lobby-1', 'test-person-lobby-3'])
    await vi.waitFor(async () => expect((await group(site, 'lobby'))?.received).toBeGreaterThan(100), 40_000)
  })

  await step('a removed person stays out of the room, and a muted one is no longer heard', async () => {
    await site.rpc('rooms.kick', { room_id: 'test-people-lobby-1', user_id: 'test-person-lobby-1' })
    await vi.waitFor(
      async () => expect((await group(site, 'lobby'))?.counts).toMatchObject({ present: 3, removed: 1 }),
      20_000,
    )
    const muted = { room_id: 'test-people-lobby-1', user_id: 'test-person-lobby-3' }
    await site.rpc('rooms.mute', muted)
    await vi.waitFor(async () => {
      const { connections } = await site.rpc('media.stats', { room_id: muted.room_id })
      expect(connections.find(({ user_id }) => user_id === muted.user_id)).toMatchObject({ audio: false, video: true })
    }, 20_000)
  })

  await step('changed, it begins anew, in an existing room', async () => {
    const { room_id } = await site.rpc('rooms.create', { topic: 'Existing' })
    await site.rpc('lab.put_people', { name: 'lobby', people: 2, room_ids: [room_id], send: 'sound' })
    await present(site, 'lobby', 2)
    expect((await site.users(room_id)).toSorted()).toEqual(['test-person-lobby-1', 'test-person-lobby-2'])
    expect(await site.users('test-people-lobby-2')).toEqual([])
  })

  await step('its people are back after a restart of the controller, and gone after its removal', async () => {
    await site.controller.stop(0)
    site = await MediaSite.start({ folder: site.folder })
    await present(site, 'lobby', 2)
    const [room = ''] = (await group(site, 'lobby'))?.in_rooms ?? []
    await site.rpc('lab.remove_people', { group: 'lobby' })
    expect(await site.rpc('lab.people', {})).toEqual([])
    await vi.waitFor(async () => expect(await site.users(room)).toEqual([]), 20_000)
    await expect(site.rpc('lab.remove_people', { group: 'lobby' })).rejects.toThrow('no longer exist')
  })
})

test('wrong values and too many groups are refused', async () => {
  const site = quiet()
  await expect(site.rpc('lab.put_people', { name: 'x', people: 0 })).rejects.toThrow()
  await expect(site.rpc('lab.put_people', { name: 'x', arrive: 'soon' })).rejects.toThrow('arrive')
  const idle = { people: 1, arrive: 'evenly=86400', send: 'nothing' } as const
  // With the group of the site file, there are ten.
  for (let number = 1; number <= 9; number++) {
    await site.rpc('lab.put_people', { name: `idle-${number}`, ...idle })
    onTestFinished(async () => void (await site.rpc('lab.remove_people', { group: `idle-${number}` })))
  }
  await expect(site.rpc('lab.put_people', { name: 'one-more', ...idle })).rejects.toThrow('10')
})
