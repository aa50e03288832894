import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Headless, startHeadless } from '../support/headless.ts'
import { PostgresServer } from '../support/postgres/postgres-server.ts'
import { parse } from 'yaml'
import { shared } from '../support/fixtures.ts'

const page = shared(() => readFile(join(import.meta.dirname, '../../docs/operate/metrics.md'), 'utf8'))

test('docs/operate/metrics.md lists every metric that a leader and a replica export, with its labels, and no other', async () => {
  const [one, two] = await startSite()
  await fetch(`${one.ready.media}/rtc/room/get?room_id=1`)
  const texts = await Promise.all([one, two].map(async ({ ready }) => (await fetch(`${ready.console}/metrics`)).text()))
  const exported = texts.flatMap((text) => [...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name = '']) => name))
  expect([...documented().keys()].sort()).toEqual([...new Set(exported)].sort())
  for (const [, name = '', labels = ''] of texts
    .join('\n')
    .matchAll(/^(roomdesk_\w+?)(?:_bucket|_sum|_count)?\{(.*)\} /gm))
    expect([name, labelsIn(labels)]).toEqual([name, documented().get(name)])
})

test('Every alert of docs/operate/metrics.md names documented metrics only, and its rules are YAML', () => {
  const known = documented()
  const rules = [...page().matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = '']) => text)
  expect(rules.map((text) => Object.keys(parse(text) as object))).toEqual([['scrape_configs'], ['groups']])
  const named = [...rows().map(({ alert }) => alert), ...rules].flatMap((text) => text.match(metric) ?? [])
  expect(named.map((name) => name.replace(/_bucket$/, '')).filter((name) => !known.has(name))).toEqual([])
})

/** Name of a metric within an expression. */
const metric = /\b(?:roomdesk|process|nodejs)_\w+/g

function rows(): { names: string; labels: string; alert: string }[] {
  return [...page().matchAll(/^\| (`(?:roomdesk|process|nodejs)_.*) \|$/gm)].map(([, row = '']) => {
    const [name = '', meaning = '', , labels = '', alert = ''] = row.split(/(?<!\\)\|/).map((cell) => cell.trim())
    return { names: `${name} ${meaning}`, labels, alert }
  })
}

/** Documented metrics with their labels, sorted. */
function documented(): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const { names, labels } of rows())
    for (const name of names.match(metric) ?? []) found.set(name, (labels.match(/\w+/g) ?? []).sort())
  return found
}

/** Names of the labels of a sample, sorted, except for the bounds of histograms. */
function labelsIn(text: string): string[] {
  const names = [...text.matchAll(/(\w+)="/g)].map(([, name = '']) => name)
  return names.filter((name) => name !== 'le').sort()
}

/** Starts a leader and a replica on one database. */
async function startSite(): Promise<[Headless, Headless]> {
  const database = await PostgresServer.start()
  const controllers: Headless[] = []
  onTestFinished(async () => {
    for (const controller of controllers) await controller.remove('SIGKILL')
    await database.remove()
  })
  const store = database.address(await database.newSchema())
  const start = async (name: string, key?: string): Promise<Headless> => {
    const sealed = key === undefined ? [] : ['--seal-key', key]
    const controller = await startHeadless({
      site: { nodes: [{ name: 'here', kind: 'embedded' }] },
      flags: ['--store', store, '--controller-name', name, ...sealed],
    })
    controllers.push(controller)
    return controller
  }
  const one = await start('one')
  return [one, await start('two', join(one.folder, 'seal.key'))]
}
