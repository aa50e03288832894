import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import { XMLParser } from 'fast-xml-parser'
import { describe, expect, onTestFinished, test } from 'vitest'
import { bundledScenarios } from '../../../server/lab/scenarios/bundled.ts'
import { ScenarioClock } from '../../../server/lab/scenarios/clock.ts'
import { ScenarioFileError, scenarioOf, readScenario } from '../../../server/lab/scenarios/format.ts'
import { planOf } from '../../../server/lab/scenarios/run.ts'
import { ApiClient } from '../../support/api-client.ts'
import { built } from '../../support/built.ts'
import { freePort } from '../../support/free-port.ts'
import type { Ready } from '../../support/headless.ts'
import { labRun } from '../../support/lab/lab-run.ts'
import { temporaryFolder } from '../../support/sites/store-site.ts'

const credential = { label: 'Client', access_key: 'client', secret_key: 'secret' }
const head = { format: 'roomdesk-scenario', version: 1, name: 'own', title: 'Own', description: 'Of a test.' }
const site = { credentials: [credential], nodes: [{ name: 'lab', kind: 'simulated' }] }
const create = { topic: 'Room', owner_id: 'test', room_mode: '1' }

/** Half of its calls fail, and a step between two times reads a room that may not exist yet. */
const uncertain = {
  ...head,
  site,
  draw: { topic: ['One', 'Two', 'Three'] },
  steps: [
    {
      at: '0s',
      say: 'Half of the calls fail.',
      call: 'lab.set_faults',
      input: { rules: [{ operation: 'get_room', ret: 404, probability: 0.5 }] },
    },
    {
      between: ['1s', '20s'],
      say: 'Create.',
      api: 'create_room',
      params: { ...create, topic: '${topic}' },
      ret: 0,
      keep: { room: 'room_id' },
    },
    ...Array.from({ length: 6 }, (_, index) => ({
      between: ['1s', '20s'],
      say: `Read ${index}.`,
      api: 'get_room',
      params: { room_id: '${room}' },
      ret: 0,
      answer: { topic: 'One' },
    })),
  ],
}

async function file(document: unknown): Promise<string> {
  const path = join(await temporaryFolder(), 'scenario.json')
  await writeFile(path, JSON.stringify(document))
  return path
}

/** Starts the command in a process of its own. */
function start(...words: string[]) {
  const child = spawn(process.execPath, [built('server/headless.js'), 'lab', ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

async function ended(child: ReturnType<typeof start>): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { code, stdout, stderr }
}

describe('A file that is not a scenario', () => {
  function problemsOf(document: unknown): readonly string[] {
    try {
      scenarioOf(document)
      return []
    } catch (error) {
      if (error instanceof ScenarioFileError) return error.problems
      throw error
    }
  }

  test('is refused with the JSON path of each problem', () => {
    const steps = [
      { at: '10', say: 'Wrong time.', wait: '1s' },
      { at: '1s', say: 'Two kinds.', wait: '1s', call: 'rooms.create' },
      { say: 'No time.', wait: '1s' },
      { at: '1s', say: 'Unknown operation.', api: 'make_room', ret: 0 },
    ]
    expect(problemsOf({ ...head, title: '', site: { nodes: [{ name: 'x', kind: 'real' }] }, steps })).toEqual([
      expect.stringMatching(/^\$\.title: /),
      expect.stringMatching(/^\$\.site\.nodes\[0\]\.kind: /),
      expect.stringMatching(/^\$\.steps\[0\]\.at: must be a duration/),
      expect.stringMatching(/^\$\.steps\[1\]: must have one of the fields/),
      expect.stringMatching(/^\$\.steps\[2\]: must have either at or between/),
      expect.stringMatching(/^\$\.steps\[3\]\.api: there is no such operation/),
    ])
  })

  test('is checked by the schema of each procedure, but for values that only a run knows', () => {
    const step = (more: object) => ({ at: '1s', say: 'Step.', ...more })
    const steps = [
      step({ call: 'rooms.create', input: { topic: 'Room', attendee_max: 'many' }, keep: { room: 'room_id' } }),
      step({ call: 'lab.join', input: { room_id: '${room}', user_id: 'ada', user_name: 'Ada' } }),
      step({ call: 'rooms.lock', input: { room_ids: ['${hall}'] } }),
      step({ api: 'get_room', params: { roomId: '1' }, ret: 0, client: 'nobody' }),
    ]
    expect(problemsOf({ ...head, site, steps })).toEqual([
      expect.stringMatching(/^\$\.steps\[0\]\.input\.attendee_max: /),
      '$.steps[2]: nothing draws or keeps ${hall}',
      '$.steps[3].params.roomId: get_room has no such parameter',
      '$.steps[3].client: site.credentials has no such access_key',
    ])
  })

  test('may not call what gives access, reveals a secret, copies the site or removes for ever', () => {
    const names = ['accounts.list', 'account.create_token', 'backups.list', 'trash.purge', 'credentials.create']
    const more = ['credentials.reveal', 'media.join_link', 'nodes.add', 'console.replace_key', 'controllers.lead']
    const steps = [...names, ...more].map((call) => ({ at: '1s', say: 'Step.', call }))
    expect(problemsOf({ ...head, steps })).toHaveLength(steps.length)
  })

  test('that is not JSON is named without its text', () => {
    expect(() => readScenario('{"secret_key": "hunter2"')).toThrow(/is not JSON: a fault at position/)
  })
})

test('The same seed draws the same times and values; steps are in the order of their times', () => {
  const scenario = scenarioOf(uncertain)
  fc.assert(
    fc.property(fc.nat(0xffff_ffff), (seed) => {
      const one = planOf(scenario, seed)
      const other = planOf(scenario, seed)
      expect([other.steps, other.values]).toEqual([one.steps, one.values])
      const times = one.steps.map(({ at }) => at)
      expect(times).toEqual(times.toSorted((a, b) => a - b))
    }),
  )
})

describe('The clock of a scenario', () => {
  const never = new AbortController().signal

  test('scales real time', async () => {
    let now = 0
    const clock = new ScenarioClock(10, () => now)
    now = 2_000
    await clock.until(20_000, never)
    expect(clock.time).toBe(20_000)
  })

  test('stands while it is paused; a step begins the next one at once', async () => {
    const clock = new ScenarioClock(Infinity)
    clock.pause()
    const passed: number[] = []
    const run = async (): Promise<void> => {
      for (const at of [1_000, 2_000, 3_000]) {
        await clock.until(at, never)
        passed.push(at)
      }
    }
    const done = run()
    clock.step()
    await expect.poll(() => passed).toEqual([1_000])
    expect(clock.time).toBe(1_000)
    clock.step()
    await expect.poll(() => passed).toEqual([1_000, 2_000])
    clock.resume()
    await done
    expect(passed).toEqual([1_000, 2_000, 3_000])
  })

  test('ends with its signal', async () => {
    const stop = new AbortController()
    const waiting = new ScenarioClock(1).until(3_600_000, stop.signal)
    stop.abort(new Error('stopped'))
    await expect(waiting).rejects.toThrow('stopped')
  })
})

test('The same seed gives the same verdict, another one may give another', async () => {
  const path = await file(uncertain)
  const verdicts = new Set<string>()
  for (const seed of [1, 2, 3]) {
    const [one, other] = await Promise.all([labRun(path, `--seed=${seed}`), labRun(path, `--seed=${seed}`)])
    expect(other.steps).toEqual(one.steps)
    expect(other.code).toBe(one.code)
    verdicts.add(JSON.stringify(one.steps))
  }
  expect(verdicts.size).toBe(3)
})

/** Those that wait seconds for a disk or a camera run in test/faults/scenarios.test.ts. */
const quick = ['first-day', 'full-room', 'expired-token', 'flood-of-logins', 'late-answers', 'licence-expires']

test.each([...quick, 'busiest-minute'])('The bundled scenario %s holds', async (name) => {
  const { code, stdout } = await labRun(name)
  expect(stdout).toMatch(/All \d+ steps hold/)
  expect(code).toBe(0)
})

test('Bundled scenarios have titles, descriptions and sentences in three languages', () => {
  const texts = bundledScenarios().flatMap(({ title, description, steps }) => [
    title,
    description,
    ...steps.map(({ say }) => say),
  ])
  const untranslated = texts.filter((each) => typeof each === 'string' || !each.zh || !each.de)
  expect(untranslated).toEqual([])
  expect(bundledScenarios()).toHaveLength(10)
})

test('The example of the docs is a scenario', async () => {
  const page = await readFile(join(import.meta.dirname, '../../../docs/integrate/scenarios.md'), 'utf8')
  const [, example = ''] = /```json\n(.*?)```/s.exec(page) ?? []
  expect(readScenario(example)).toMatchObject({
    name: 'late-camera',
    steps: [{ kind: 'api' }, { kind: 'call' }, {}, {}],
  })
})

describe('roomdesk lab', () => {
  test('list names the bundled scenarios, which the docs describe', async () => {
    const { code, stdout } = await ended(start('list'))
    expect(code).toBe(0)
    const page = await readFile(join(import.meta.dirname, '../../../docs/integrate/scenarios.md'), 'utf8')
    for (const { name } of bundledScenarios()) {
      expect(stdout).toContain(`${name}: `)
      expect(page).toContain(`\`${name}\``)
    }
  })

  test('the docs describe each flag', async () => {
    const { stdout } = await ended(start('--help'))
    const flags = [...stdout.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, flag = '']) => flag)
    const page = await readFile(join(import.meta.dirname, '../../../docs/integrate/scenarios.md'), 'utf8')
    expect(flags.length).toBeGreaterThan(8)
    expect(flags.filter((flag) => !page.includes(flag))).toEqual([])
  })

  test('a step that does not hold is shown with what came, ends with 1, and is a failure in JUnit', async () => {
    const steps = [
      { at: '0s', say: 'Create.', api: 'create_room', params: create, ret: 411, keep: { room: 'room_id' } },
      { at: '1s', say: 'Read.', api: 'get_room', params: { room_id: '${room}' }, ret: 0 },
    ]
    const junit = join(await temporaryFolder(), 'junit.xml')
    const { code, stdout, stderr } = await ended(
      start('run', await file({ ...head, site, steps }), '--pace=fast', `--junit=${junit}`),
    )
    expect([code, stderr]).toEqual([1, ''])
    expect(stdout).toMatch(/expected +ret 411\n +came +\{"ret":0,"room_id":"\d+"\}/)
    expect(stdout).toContain('no earlier step gave ${room}')
    expect(stdout).toContain('0 steps hold, 1 do not, 1 were skipped.')
    const parsed = new XMLParser({ ignoreAttributes: false }).parse(await readFile(junit, 'utf8')) as {
      testsuites: Record<string, unknown>
    }
    expect(parsed.testsuites).toMatchObject({ '@_name': 'own', '@_failures': '1', '@_skipped': '1', '@_tests': '2' })
  })

  test('wrong files and flags end with 2', async () => {
    const [missing, wrong, flag] = await Promise.all([
      ended(start('run', 'no-such-scenario')),
      ended(start('run', await file({ ...head, steps: [] }))),
      ended(start('run', 'first-day', '--seed=-1')),
    ])
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('see roomdesk lab list') })
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('$.steps: ') })
    expect(flag).toMatchObject({ code: 2, stderr: expect.stringContaining('--seed must be a whole number') })
  })

  test("an integrator's client calls the site on given ports; Ctrl+C stops the run and removes the folder", async () => {
    const [media, device] = [await freePort(), await freePort()]
    const steps = [{ at: '1h', say: 'Much later.', wait: '1s' }]
    const path = await file({ ...head, site, steps })
    const child = start('run', path, `--media-port=${media}`, `--device-port=${device}`)
    const output = Promise.all([text(child.stderr), once(child, 'exit')])
    const lines = createInterface(child.stdout)
    const [line] = (await once(lines, 'line')) as [string]
    const ready = JSON.parse(line.replace(/^ready /, '')) as Ready
    expect(ready).toMatchObject({ media: `http://127.0.0.1:${media}`, device: `http://127.0.0.1:${device}` })
    const client = new ApiClient(ready, credential)
    await client.authenticate()
    expect(await client.createRoom({ topic: 'From outside' })).toMatch(/^\d+$/)
    child.kill('SIGINT')
    const [stderr, [code]] = await output
    expect([code, stderr]).toEqual([2, 'Interrupted: not all steps were run.\n'])
  })
})
