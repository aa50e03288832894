import type { LinkState } from '../network.ts'
import type { SimulatedSite } from '../site/controller.ts'
import { another, cut, type Fault, leaderOf, names, someController } from './fault.ts'

/** A partition. @param state how packets end @param oneWay only those from the controller */
function partition(name: string, state: LinkState, oneWay: boolean, alsoPeers: boolean): Fault {
  return {
    name,
    begin: (site) => {
      const who = someController(site)
      const peers = site.controllers.filter((controller) => controller !== who)
      const database = cut(site, [who.name], names(site.servers), state, oneWay)
      const others = alsoPeers ? cut(site, [who.name], names(peers), state, oneWay) : () => undefined
      site.world.note('FAULT', `${name}: ${who.name}`)
      return () => {
        database()
        others()
      }
    },
  }
}

/** Faults of controllers and of their connections. */
export const controllerFaults: readonly Fault[] = [
  ...(['kill', 'switch off'] as const).map((name) => ({
    name,
    begin: (site: SimulatedSite) => {
      const who = someController(site)
      if (who.member === undefined) return undefined
      who.kill(name === 'switch off')
      return () => who.start()
    },
  })),
  ...(['frozen', 'suspended'] as const).map((how) => ({
    name: how,
    begin: (site: SimulatedSite) => {
      const { machine } = someController(site)
      if (!machine.isUp || machine.isStopped) return undefined
      machine.stop(how)
      site.world.note(machine.name, `is ${how}`)
      return () => {
        machine.resume()
        site.world.note(machine.name, 'goes on')
      }
    },
  })),
  partition('cut off, packets vanish', 'drop', false, true),
  partition('cut off, packets are refused', 'refuse', false, true),
  partition('cut off one way, packets vanish', 'drop', true, true),
  partition('cut off one way, packets are refused', 'refuse', true, true),
  partition('cut off from the database, packets vanish', 'drop', false, false),
  partition('cut off from the database, packets are refused', 'refuse', false, false),
  {
    name: 'cut off while another is switched off',
    begin: (site) => {
      const leader = leaderOf(site)
      const off = leader === undefined ? undefined : another(site, leader)
      if (leader === undefined || off === undefined) return undefined
      off.kill(true)
      const peers = site.controllers.filter((controller) => controller !== leader)
      let heal: (() => void) | undefined
      let isOver = false
      site.world.plan(site.world.between(500, 6_000), () => {
        if (isOver) return
        heal = cut(site, [leader.name], [...names(site.servers), ...names(peers)], site.world.pick(['drop', 'refuse']))
        site.world.note('FAULT', `${leader.name} is cut off`)
        site.world.plan(site.world.between(100, 2_000), () => off.member === undefined && off.start())
      })
      return () => {
        isOver = true
        heal?.()
        if (off.member === undefined) off.start()
      }
    },
  },
  {
    name: 'the next leader is cut off as it begins',
    begin: (site) => {
      const leader = leaderOf(site)
      const next = leader === undefined ? undefined : another(site, leader)
      if (leader === undefined || next === undefined) return undefined
      leader.kill(false)
      let heal: (() => void) | undefined
      let isOver = false
      // It waits before it answers: the leader before may still do so.
      site.world.plan(site.world.between(100, 700), () => {
        if (isOver) return
        const peers = site.controllers.filter((controller) => controller !== next)
        heal = cut(site, [next.name], [...names(site.servers), ...names(peers)], site.world.pick(['drop', 'refuse']))
        site.world.note('FAULT', `${next.name} is cut off`)
        site.world.plan(site.world.between(100, 2_000), () => leader.member === undefined && leader.start())
      })
      return () => {
        isOver = true
        heal?.()
        if (leader.member === undefined) leader.start()
      }
    },
  },
  {
    name: 'the disk of a controller is full',
    begin: (site) => {
      const { machine } = someController(site)
      machine.diskIsFull = true
      site.world.note('FAULT', `the disk of ${machine.name} is full`)
      return () => (machine.diskIsFull = false)
    },
  },
  {
    name: 'slow line',
    begin: (site) => {
      const who = someController(site)
      site.network.slow.set(who.name, site.world.pick([10, 30, 100, 400]))
      return () => void site.network.slow.delete(who.name)
    },
  },
  {
    name: 'clock step',
    begin: (site) => {
      const { machine } = site.world.pick(site.controllers)
      // Both clocks of one whose time stands still would tell that no time has passed: nobody could know (docs/operate/high-availability.md, Clocks).
      if (machine.stopped === 'suspended') return undefined
      site.schedules.forget()
      machine.stepClock(site.world.pick([-3_600_000, -5_000, 5_000, 3_600_000]))
      return () => undefined
    },
  },
  {
    name: 'hand over',
    begin: (site) => {
      const leader = leaderOf(site)
      const to = leader === undefined ? undefined : another(site, leader)
      if (leader === undefined || to === undefined || leader.machine.isStopped) return undefined
      site.world.plan(0, () => void leader.handOver(to).catch(site.world.fail), leader.machine)
      return () => undefined
    },
  },
]
