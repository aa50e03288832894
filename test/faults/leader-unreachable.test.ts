import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { MachineNetwork } from '../support/network/machine-network.ts'
import { ControllersSite, credential, machineOf, type SiteController } from '../support/sites/controllers-site.ts'

/** Well below what a cut lasts. */
const promptly = 6_000

let network: MachineNetwork
let site: ControllersSite
let leader: SiteController
let replica: SiteController
let client: ApiClient
let room: string

beforeAll(async () => {
  if (!MachineNetwork.possible)
    throw new Error(
      'The machines of these tests need root, and: apt-get install --no-install-recommends iproute2 iptables',
    )
  network = await MachineNetwork.create()
  site = await ControllersSite.start({ controllers: 2, network, settings: { deadlines: { store_ms: 2_000 } } })
  leader = await site.leader()
  const other = site.controllers.find((one) => one !== leader)
  if (other === undefined) throw new Error('Nobody stands by.')
  replica = other
  client = new ApiClient(replica.headless.ready, credential)
  expect((await client.authenticate()).ret).toBe(0)
  room = await client.createRoom()
}, 60_000)

afterAll(async () => {
  await site.remove()
  await network[Symbol.asyncDispose]()
})

const healthOf = async ({ headless }: SiteController) =>
  (await (await fetch(`${headless.ready.console}/healthz`)).json()) as { leader: string; leader_reachable?: boolean }

/** Cuts the replica off from the leader until the test has ended, without a word to either; both reach the database, and clients reach both. */
async function cutOff(): Promise<void> {
  const machine = machineOf(replica)
  await machine.cut({ peer: machineOf(leader).address, direction: 'both', kind: 'drop' })
  onTestFinished(async () => {
    await machine.heal()
    await expect.poll(() => healthOf(replica)).toMatchObject({ leader_reachable: true })
    await expect.poll(() => replica.headless.log.at(-1)).toContain('can reach the leader again')
    expect((await client.get('/rtc/room/get', { room_id: room })).ret).toBe(0)
  })
}

async function timed<T>(promise: Promise<T>): Promise<T> {
  const began = performance.now()
  const result = await promise
  expect(performance.now() - began).toBeLessThan(promptly)
  return result
}

test('A replica that cannot reach its leader answers 700 soon, says so, and recovers by itself', {
  timeout: 60_000,
}, async () => {
  const logged = replica.headless.log.length
  await cutOff()
  const calls = [
    client.get('/rtc/room/get', { room_id: room }),
    client.get('/rtc/room/create', { topic: 'one', owner_id: 'one', room_mode: 1 }),
  ]
  for (const answer of await timed(Promise.all(calls))) expect(answer.ret).toBe(700)
  await expect
    .poll(() => healthOf(replica))
    .toMatchObject({ role: 'standby', leader: leader.name, leader_reachable: false })
  const metrics = await (await fetch(`${replica.headless.ready.console}/metrics`)).text()
  expect(metrics).toMatch(/^roomdesk_leader_reachable 0$/m)
  // Once, however many calls there are.
  const told = () => replica.headless.log.slice(logged).filter((line) => line.includes('cannot reach the leader'))
  await expect.poll(told).toHaveLength(1)
  await timed(client.get('/rtc/room/get', { room_id: room }))
  expect(told()).toHaveLength(1)
})

test('A leader that cannot reach a replica reports this even before the database is lost', {
  timeout: 60_000,
}, async () => {
  const reached = async () => {
    const { items } = await leader.headless.rpc('controllers.list', {})
    return items.map(({ name, unreachable }) => [name, unreachable])
  }
  const slow = { timeout: 25_000, interval: 200 }
  expect(await reached()).toEqual([
    [leader.name, false],
    [replica.name, false],
  ])
  await cutOff()
  await expect.poll(reached, slow).toContainEqual([replica.name, true])
  expect(leader.headless.log.join('\n')).toContain('cannot reach another one')
  const metrics = await (await fetch(`${leader.headless.ready.console}/metrics`)).text()
  expect(metrics).toMatch(/^roomdesk_controllers_unreachable 1$/m)
  await machineOf(replica).heal()
  await expect.poll(reached, slow).toContainEqual([replica.name, false])
})
