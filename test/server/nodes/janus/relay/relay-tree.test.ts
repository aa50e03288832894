import fc from 'fast-check'
import { expect, test } from 'vitest'
import { minDepth, planRelays, type RelayStep } from '../../../../../server/nodes/janus/relay/relay-tree.ts'

const nodeNames = Array.from({ length: 9 }, (_, number) => `n${number}`)
const streamNames = ['ann', 'bob', 'cam']
const node = fc.constantFrom(...nodeNames)
const nodeSet = fc.uniqueArray(node).map((nodes) => new Set(nodes))

/** Generates the state of a site. */
const site = fc.record({
  origins: fc.dictionary(fc.constantFrom(...streamNames), node).map((origins) => new Map(Object.entries(origins))),
  watched: fc.dictionary(fc.constantFrom(...streamNames), nodeSet).map((watched) => new Map(Object.entries(watched))),
  up: nodeSet,
})
const fanOut = fc.integer({ min: 1, max: 4 })
/** Generates any steps, including invalid ones. */
const anySteps = fc.array(fc.record({ stream: fc.constantFrom(...streamNames), from: node, to: node }))

type Site = ReturnType<typeof site.generate>['value']

const stepsOf = (steps: readonly RelayStep[], stream: string): RelayStep[] =>
  steps.filter((step) => step.stream === stream)
const wantedOn = ({ origins, watched, up }: Site, stream: string): string[] => {
  const origin = origins.get(stream)
  if (origin === undefined || !up.has(origin)) return []
  return [...(watched.get(stream) ?? [])].filter((one) => one !== origin && up.has(one)).sort()
}
const text = ({ stream, from, to }: RelayStep): string => `${stream}: ${from} to ${to}`
const depthOf = (steps: readonly RelayStep[], origin: string | undefined, to: string): number => {
  let depth = 0
  for (let at: string | undefined = to; at !== origin; depth += 1) {
    expect(depth, 'no circles').toBeLessThan(nodeNames.length)
    at = steps.find((step) => step.to === at)?.from
    expect(at).toBeDefined()
  }
  return depth
}

test('every node with viewers of a stream gets it once, and no other node does; no tree is deeper than necessary', () => {
  fc.assert(
    fc.property(site, fanOut, anySteps, (now, most, present) => {
      const plan = planRelays({ ...now, fanOut: most }, present)
      for (const stream of streamNames) {
        const steps = stepsOf(plan, stream)
        const wanted = wantedOn(now, stream)
        expect(steps.map(({ to }) => to).sort()).toEqual(wanted)
        for (const name of nodeNames)
          expect(steps.filter(({ from }) => from === name).length, 'fed by one node').toBeLessThanOrEqual(most)
        for (const to of wanted)
          expect(depthOf(steps, now.origins.get(stream), to)).toBeLessThanOrEqual(minDepth(wanted.length, most))
      }
    }),
  )
})

test('a correct plan stays unchanged', () => {
  fc.assert(
    fc.property(site, fanOut, anySteps, (now, most, present) => {
      const plan = planRelays({ ...now, fanOut: most }, present)
      const again = planRelays({ ...now, fanOut: most }, plan)
      expect(again.map(text).sort()).toEqual(plan.map(text).sort())
    }),
  )
})

test('a node that gets its first viewer moves no other', () => {
  fc.assert(
    fc.property(site, fanOut, fc.constantFrom(...streamNames), node, (before, most, stream, added) => {
      const plan = planRelays({ ...before, fanOut: most }, [])
      const watched = new Map(before.watched).set(stream, new Set([...(before.watched.get(stream) ?? []), added]))
      const after = planRelays({ ...before, watched, fanOut: most }, plan)
      expect(after.map(text)).toEqual(expect.arrayContaining(plan.map(text)))
      expect(after.length - plan.length).toBeLessThanOrEqual(1)
    }),
  )
})

test('a dead node moves only the nodes that it fed, unless the tree becomes too deep', () => {
  fc.assert(
    fc.property(site, fanOut, node, (before, most, dead) => {
      const plan = planRelays({ ...before, fanOut: most }, [])
      const now = { ...before, up: new Set([...before.up].filter((one) => one !== dead)) }
      const after = planRelays({ ...now, fanOut: most }, plan)
      for (const stream of streamNames) {
        const steps = stepsOf(plan, stream)
        if (minDepth(wantedOn(now, stream).length, most) < minDepth(steps.length, most)) continue
        const moved = stepsOf(after, stream).filter((step) => !steps.some((one) => text(one) === text(step)))
        const fed = steps.filter(({ from }) => from === dead)
        // A subtree of the dead node may be too deep for any free place: then it is divided.
        expect(moved.length).toBeLessThanOrEqual(fed.reduce((sum, { to }) => sum + subtreeSize(steps, to), 0))
        for (const { to } of moved) expect(isBelow(steps, to, dead)).toBe(true)
      }
    }),
  )
})

test('one stream for many nodes is relayed by nodes that have it', () => {
  const watched = new Map([['ann', new Set(nodeNames)]])
  const demand = { origins: new Map([['ann', 'n0']]), watched, up: new Set(nodeNames), fanOut: 3 }
  const plan = planRelays(demand, [])
  expect(plan.filter(({ from }) => from === 'n0')).toHaveLength(3)
  expect(plan).toHaveLength(8)
  expect(minDepth(8, 3)).toBe(2)
})

test('streams of different users are relayed by different nodes', () => {
  const nodes = nodeNames.slice(0, 5)
  const watched = new Map(streamNames.map((stream) => [stream, new Set(nodes)]))
  const origins = new Map(streamNames.map((stream) => [stream, 'n0']))
  const plan = planRelays({ origins, watched, up: new Set(nodes), fanOut: 2 }, [])
  const loads = nodes.slice(1).map((name) => plan.filter(({ from }) => from === name).length)
  expect(Math.max(...loads)).toBeLessThanOrEqual(2)
})

function subtreeSize(steps: readonly RelayStep[], top: string): number {
  return steps.filter(({ from }) => from === top).reduce((sum, { to }) => sum + subtreeSize(steps, to), 1)
}

function isBelow(steps: readonly RelayStep[], bottom: string, top: string): boolean {
  const from = steps.find(({ to }) => to === bottom)?.from
  return from === top || (from !== undefined && isBelow(steps, from, top))
}
