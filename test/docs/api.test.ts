import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { failures, parametersSchema, successSchema } from '../../server/http/openapi.ts'
import type { OperationContract } from '../../shared/operation.ts'
import { allOperations } from '../../shared/operations.ts'
import { liveFacts, recordingFacts } from '../../shared/recording-operations.ts'
import { type ApiName, errorNames, retOf, sentenceOf } from '../../shared/result-codes.ts'
import { shared } from '../support/fixtures.ts'

const apis = ['media', 'device'] as const

const page = shared(() => readFile(join(import.meta.dirname, '../../docs/integrate/api.md'), 'utf8'))

test.each(apis)('docs/integrate/api.md lists the operations of the %s API as the contract has them', (api) => {
  const rows = allOperations.filter((one) => one.api === api && one.setting === undefined).map(operationRow)
  const listed = section(api === 'media' ? 'Media room API' : 'External device API').match(/^\| `\/.*$/gm)
  expect(listed).toEqual(rows)
})

test('docs/integrate/api.md explains every parameter, and no other', () => {
  const operations = allOperations.filter(({ setting }) => setting === undefined)
  const named = operations.flatMap((one) => Object.keys(parametersSchema(one).properties))
  const explained = [...section('Parameters').matchAll(/^\| ([^|]+) \|/gm)].flatMap(
    ([, cell = '']) => cell.match(/\w+(?=`)/g) ?? [],
  )
  expect(explained.sort()).toEqual([...new Set(named)].sort())
})

test.each(apis)('docs/integrate/api.md explains every result code of the %s API', (api) => {
  const table = section('Result codes').split('### ')[api === 'media' ? 1 : 2] ?? ''
  const rows = [...table.matchAll(/^\| (\d+) \| (.*?) \|/gm)].map(([, ret = '', meaning = '']) => [
    Number(ret),
    meaning,
  ])
  expect(rows).toEqual([[0, 'Success.'], ...meanings(api)])
})

/** Text below a heading of depth 2, up to the next one. */
function section(heading: string): string {
  return (
    page()
      .split(/^## /m)
      .find((text) => text.startsWith(`${heading}\n`)) ?? ''
  )
}

const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ')

function operationRow(operation: OperationContract): string {
  const { properties, required } = parametersSchema(operation)
  const optional = Object.keys(properties).filter((name) => !required.includes(name))
  const parameters = [
    ...(required.length > 0 ? [code(required)] : []),
    ...(optional.length > 0 ? [`optional ${code(optional)}`] : []),
  ].join('; ')
  const does = `${operation.summary.replace(/\.$/, '')}${operation.extension ? ' ¹' : ''}`
  const rets = [...failures(operation).keys()].join(', ')
  return `| \`${operation.path}\` | ${does} | ${parameters} | ${answerOf(operation)} | ${rets} |`
}

const room = allOperations.find(({ name }) => name === 'get_room')

function answerOf(operation: OperationContract): string {
  if (operation.success === room?.success) return 'a room'
  if (operation.success === recordingFacts) return 'a recording'
  if (operation.success === liveFacts) return 'a live stream'
  return code(Object.keys((successSchema(operation).properties ?? {}) as object))
}

/** Sentences of each `ret` of an API, in ascending order. */
function meanings(api: ApiName): [number, string][] {
  const sentences = new Map<number, string>()
  for (const name of errorNames) {
    const ret = retOf(api, name)
    if (ret !== undefined) sentences.set(ret, [sentences.get(ret), sentenceOf(name)].filter(Boolean).join(' '))
  }
  return [...sentences].sort(([one], [other]) => one - other)
}
