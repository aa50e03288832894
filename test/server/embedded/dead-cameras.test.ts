import { expect, test } from 'vitest'
import { openCameraPark } from '../../support/camera/camera-park.ts'
import { MediaSite } from '../../support/sites/media-site.ts'

const cameras = 60
const living = 6
/** Delays of a real site: each dead camera takes four seconds to fail. */
const settings = { devices: { reconnect_first_ms: 1_000, reconnect_longest_ms: 30_000 } }

test('after a start with many unreachable cameras, every reachable one is in its room before the first attempt fails', async () => {
  await using park = await openCameraPark()
  let first: MediaSite | undefined = await MediaSite.start({ settings })
  const { folder } = first
  const room = await first.api.createRoom({ attendee_max: 1_000 })
  // The dead ones come first: taken in order, they would delay all live ones.
  const lines = Array.from({ length: cameras }, (_, number) => {
    const address = number >= cameras - living ? park.live(number) : park.dead(number)
    return `${room},cam-${number},Camera ${number},${address}`
  })
  await first.rpc('devices.import', { text: ['roomId,userId,userName,userAddress', ...lines].join('\n') })
  await first.stop()
  first = undefined

  await using site = await MediaSite.start({ folder, settings })
  const began = performance.now()
  await site.until(async () => (await site.users(room)).length === living)
  expect(performance.now() - began).toBeLessThan(3_500)
  const states = new Map((await site.rpc('devices.list', {})).map(({ userId, state }) => [userId, state]))
  for (let number = cameras - living; number < cameras; number++) expect(states.get(`cam-${number}`)).toBe('joined')
})
