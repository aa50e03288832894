import { expect, test as base } from 'vitest'
import { RelayedSite } from '../../../../support/janus/relayed-site.ts'
import { startJanus } from '../../../../support/janus/janus-server.ts'
import { disposed } from '../../../../support/fixtures.ts'

const test = base
  .extend('a', { scope: 'file' }, async ({}, { onCleanup }) => disposed(onCleanup, await startJanus()))
  .extend('b', { scope: 'file' }, async ({}, { onCleanup }) => disposed(onCleanup, await startJanus()))

const small = { pictures: 25, packets: 1, bytes: 200, audio: false }

test('users of the room page and a camera see each other, whichever nodes they are on', async ({ a, b }) => {
  const site = await RelayedSite.open({ a, b }, 'seen')
  site.enter('ann', 'a')
  site.enter('bob', 'b')
  const yard = await site.join('yard', 'a', true)
  await yard.publish(small)
  await site.shown('yard')
  await site.send('ann')
  await site.send('bob')
  expect(site.streams.sort()).toEqual(['ann', 'bob', 'yard'])

  const annOnB = await site.watch('ann', 'bob')
  expect(annOnB.video.received + annOnB.audio.received).toBeGreaterThan(0)
  await site.watch('yard', 'bob')
  await site.watch('bob', 'ann')
  // Viewers on the node of a stream watch it there, and so does an operator's preview: this needs no relay.
  await site.watch('yard', 'ann')
  await site.watch('bob')
  const handedOn = ['ann from a to b', 'bob from b to a', 'yard from a to b']
  expect(site.relays.sort()).toEqual(handedOn)
  // A relayed stream is neither another stream nor a user.
  expect(site.streams.sort()).toEqual(['ann', 'bob', 'yard'])

  // When its last viewer there leaves, the relay ends.
  await annOnB.close()
  await expect.poll(() => site.relays.sort()).toEqual(handedOn.slice(1))
  // Nor for users who left; all their media is gone.
  await site.relayedRooms.media.leave('seen', 'bob')
  await expect.poll(() => site.relays).toEqual([])
  expect(site.out).toEqual([])
})

test('a user on another node stops publishing: viewers are notified, and see them when they publish again', async ({
  a,
  b,
}) => {
  const site = await RelayedSite.open({ a, b }, 'stops')
  site.enter('ann', 'a')
  site.enter('bob', 'b')
  const sender = await site.send('ann')
  await site.watch('ann', 'bob')
  await sender.close()
  await expect.poll(() => site.told).toContainEqual(expect.objectContaining({ type: 'over' }))
  await expect.poll(() => site.streams).toEqual([])
  await expect(site.watch('ann', 'bob')).rejects.toThrow('500')
  await site.send('ann')
  await site.watch('ann', 'bob')
})

test("all streams are relayed to a node as long as it has a user of Janus's own API", async ({ a, b }) => {
  const site = await RelayedSite.open({ a, b }, 'native')
  site.enter('ann', 'a')
  await site.send('ann')
  const dan = await site.join('dan', 'b')
  await dan.until('relay-test~ann')
  await dan.publish(small)
  await site.shown('dan')
  // Their own streams are available to users of the room page.
  await site.watch('dan', 'ann')
  expect(site.relays.sort()).toEqual(['ann from a to b', 'dan from b to a'])
})

test('the room leaves one of its nodes: its users there have to rejoin, all others notice nothing', async ({
  a,
  b,
}) => {
  const site = await RelayedSite.open({ a, b }, 'moves')
  site.enter('ann', 'a')
  site.enter('bob', 'b')
  site.enter('cy', 'b')
  await site.send('ann')
  await site.send('bob')
  const viewer = await site.watch('bob', 'cy')
  site.place('b')
  await expect.poll(() => site.out).toEqual(['ann'])
  expect(site.streams).toEqual(['bob'])
  expect(site.told).not.toContainEqual(expect.objectContaining({ type: 'over' }))
  site.enter('ann', 'b')
  await site.send('ann')
  await site.watch('ann', 'bob')
  const { packets } = viewer
  await expect.poll(() => viewer.packets).toBeGreaterThan(packets)
  expect(site.out).toEqual(['ann'])
})

test('the node of a publisher is killed: they leave, their stream ends for everybody else, and all see each other on the remaining node', async ({
  a,
}) => {
  const c = await startJanus()
  const site = await RelayedSite.open({ a, c }, 'killed')
  site.enter('ann', 'c')
  site.enter('bob', 'a')
  await site.send('ann')
  await site.watch('ann', 'bob')
  await c.stop('SIGKILL')
  await expect.poll(() => site.out).toEqual(['ann'])
  expect(site.unsure).toEqual(['c'])
  await expect.poll(() => site.streams).toEqual([])
  site.place('a')
  site.enter('ann', 'a')
  await site.send('ann')
  await site.watch('ann', 'bob')
  await c[Symbol.asyncDispose]()
})
