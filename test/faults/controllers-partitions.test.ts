import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { type BusyProof, busyRounds, provedBusy } from '../support/busy/busy-site.ts'
import { type Cut, cutKinds, MachineNetwork } from '../support/network/machine-network.ts'
import { historySeed, type Proof, type ProofOptions, proved } from '../support/controllers/proved.ts'
import { seededRandom } from '../../shared/seeded-random.ts'
import { type ControllersSite, machineOf, roleOf, type SiteController } from '../support/sites/controllers-site.ts'

/** Number of cuts of the network: each takes about ten seconds. */
const partitions = busyRounds(6)

/** Runs a story on controllers with a machine each; see `proved`. Clients reach every controller throughout. */
async function onMachines(controllers: number, story: (proof: Proof, network: MachineNetwork) => Promise<void>) {
  const { network, options } = await machines(controllers)
  await proved(options, async (proof) => {
    await story(proof, network)
    expectNoFatal(proof)
  })
}

/** As `onMachines`, with recordings, live streams and schedules under way. A cut leader and the next one both write: each has a recordings folder of its own. */
async function onBusyMachines(story: (proof: BusyProof, network: MachineNetwork) => Promise<void>) {
  const { network, options } = await machines(3)
  await provedBusy({ ...options, recordings: 'own' }, async (proof) => {
    await story(proof, network)
    expectNoFatal(proof)
  })
}

async function machines(controllers: number): Promise<{ network: MachineNetwork; options: ProofOptions }> {
  const network = await MachineNetwork.create()
  // Runs after the site has been removed.
  onTestFinished(() => network[Symbol.asyncDispose]())
  // The deadline of the store bounds how long a client waits at a controller that is cut off.
  const settings = { deadlines: { store_ms: 2_000 } }
  return { network, options: { network, controllers, clients: 9, settings } }
}

/** No controller has started itself again after an unexpected error. */
function expectNoFatal({ site }: Proof): void {
  const fatal = site.controllers.flatMap(({ headless }) =>
    headless.log.filter((line) => line.includes('"level":"fatal"')),
  )
  expect(fatal).toEqual([])
}

const othersOf = (site: ControllersSite, one: SiteController): SiteController[] =>
  site.controllers.filter((other) => other !== one)

/** Makes a room; the same client changes and reads it at any controller. */
async function rooms({ clients }: Proof, at: SiteController, name: string) {
  const client = clients.visitor(name)
  const owner = `${name}.`
  const room = `${name}.room`
  expect(await client.ask(owner, { do: 'create', room, topic: `${name}.before` }, { at })).toEqual({ as: 'done' })
  return {
    change: async (where: SiteController) =>
      await client.ask(owner, { do: 'update', room, topic: `${name}.after` }, { at: where }),
    read: async (where: SiteController) => await client.ask(owner, { do: 'get', room }, { at: where }),
  }
}

/**
 * Cuts the leader off from the database and from the other controllers, and waits until another leads. What that one stored is then read at the old one, which answers with it or not at all.
 */
async function cutOffLeader(
  proof: Proof,
  turn: string,
  cut: (leader: SiteController) => Promise<void>,
  heal: (leader: SiteController) => Promise<void>,
): Promise<void> {
  const { site, clients } = proof
  const old = await site.leader()
  const room = await rooms(proof, old, turn)
  await cut(old)
  const leads = await site.leader(old)
  expect(await room.change(leads)).toEqual({ as: 'done' })
  const seen = await room.read(old)
  if (seen.as === 'done') expect(seen.seen?.topic).toBe(`${turn}.after`)
  await clients.moreChanges(10)
  await heal(old)
  await expect.poll(async () => await roleOf(old), { timeout: 20_000 }).toBe('standby')
  await clients.moreChanges(20)
}

/** Cuts a controller off from the database and from all others. */
async function cutFromAll(
  { site }: Proof,
  network: MachineNetwork,
  one: SiteController,
  how: Pick<Cut, 'kind' | 'direction'>,
): Promise<void> {
  const machine = machineOf(one)
  await machine.cut({ peer: network.address, port: site.database.port, ...how })
  for (const other of othersOf(site, one)) await machine.cut({ peer: machineOf(other).address, ...how })
}

// Takes about 10 s for each kind.
test('A leader that is cut off from all others serves no stale reads, whether packets are dropped or connections refused', {
  timeout: 300_000,
}, async () => {
  await onMachines(2, async (proof, network) => {
    for (const kind of cutKinds)
      await cutOffLeader(
        proof,
        kind,
        (old) => cutFromAll(proof, network, old, { kind, direction: 'both' }),
        (old) => machineOf(old).heal(),
      )
  })
})

test('A leader whose network card is down, and one that is cut off while another controller is switched off, serve no stale reads', {
  timeout: 300_000,
}, async () => {
  await onMachines(3, async (proof, network) => {
    const { site, clients } = proof
    const down = await site.leader()
    const room = await rooms(proof, down, 'card')
    const machine = machineOf(down)
    const health = `${down.headless.ready.console}/healthz`
    await machine.card('down')
    const leads = await site.leader(down)
    expect(await room.change(leads)).toEqual({ as: 'done' })
    // A client on the same machine still reaches it.
    expect(JSON.parse(await machine.fetch(health, 2_000))).not.toMatchObject({ ok: true })
    await machine.card('up')
    await expect.poll(async () => await roleOf(down), { timeout: 20_000 }).toBe('standby')
    await clients.moreChanges(20)

    const off = othersOf(site, await site.leader())[0]
    if (off === undefined) throw new Error('There is none.')
    await site.kill(off)
    for (const kind of ['icmp-host-unreachable', 'tcp-reset'] as const)
      await cutOffLeader(
        proof,
        `off-${kind}`,
        (old) => cutFromAll(proof, network, old, { kind, direction: 'both' }),
        (old) => machineOf(old).heal(),
      )
    await site.restart(off)
  })
})

test('A leader whose database session ends unnoticed serves no stale reads', { timeout: 300_000 }, async () => {
  await onMachines(2, async (proof, network) => {
    const { site } = proof
    const owner = 'signed-in.'
    const signedIn: Promise<ReturnType<Proof['clients']['visitor']>>[] = []
    for (let turn = 0; turn < 3; turn++) {
      await cutOffLeader(
        proof,
        `unheard${turn}`,
        async (old) => {
          // Packets that it sends arrive; those for it do not.
          await cutFromAll(proof, network, old, { kind: 'drop', direction: 'in' })
          // They pass the check that it leads, and wait for the database then.
          for (let i = 0; i < 20; i++) {
            const client = proof.clients.visitor(`signs-in${turn}.${i}`)
            signedIn.push(client.ask(owner, { do: 'signIn' }, { at: old }).then(() => client))
          }
          const { address } = machineOf(old)
          await site.database.query(
            `select pg_terminate_backend(pid) from pg_stat_activity where client_addr = '${address}'`,
          )
        },
        (old) => machineOf(old).heal(),
      )
      // A token that was given counts at the next leader, too: the history is checked for it.
      for (const client of await Promise.all(signedIn.splice(0))) await client.ask(owner, { do: 'list', owner })
    }
  })
})

test(`${partitions} asymmetric partitions, with recordings, live streams and schedules in progress: every history is consistent, and one controller leads afterwards`, {
  timeout: 240_000 + partitions * 30_000,
}, async () => {
  const random = seededRandom(historySeed())
  const pick = <T>(items: readonly T[]): T => {
    const item = items[Math.floor(random() * items.length)]
    if (item === undefined) throw new Error('There is nothing to pick.')
    return item
  }
  await onBusyMachines(async ({ site, clients, busy }, network) => {
    for (let turn = 0; turn < partitions; turn++) {
      const said: string[] = []
      const count = 1 + Math.floor(random() * 3)
      for (let i = 0; i < count; i++) {
        const one = pick(site.controllers)
        const other = pick(['database', ...othersOf(site, one)] as const)
        const how = { direction: pick(['out', 'in', 'both'] as const), kind: pick(cutKinds) }
        const peer =
          other === 'database'
            ? { peer: network.address, port: site.database.port }
            : { peer: machineOf(other).address }
        await machineOf(one).cut({ ...peer, ...how })
        said.push(`${one.name} ${how.direction} ${other === 'database' ? other : other.name} ${how.kind}`)
      }
      console.info(`partition ${turn + 1}: ${said.join('; ')}`)
      await sleep(1_000 + random() * 6_000)
      for (const one of site.controllers) await machineOf(one).heal()
      await site.leader()
      await clients.moreChanges(20)
      await busy.agrees()
    }
  })
})
