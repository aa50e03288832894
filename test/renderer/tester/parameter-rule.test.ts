// @vitest-environment node
import { describe, expect, test } from 'vitest'
import { controlKind, valueProblem } from '../../../renderer/console/pages/tester/parameterRule.ts'
import type { Translate } from '../../../renderer/console/i18n/text.ts'
import { parametersSchema } from '../../../server/http/openapi.ts'
import { deviceOperations } from '../../../shared/device-operations.ts'
import { mediaOperations } from '../../../shared/media-operations.ts'
import type { OperationContract } from '../../../shared/operation.ts'

const contracts: readonly OperationContract[] = [...mediaOperations, ...deviceOperations].filter(
  ({ token }) => token !== null,
)
const t: Translate = (key) => key
const samples = [
  '1',
  '4',
  '5',
  '0',
  '10000',
  '10001',
  '-1',
  '1.5',
  'x',
  '早'.repeat(49),
  '早'.repeat(50),
  'x'.repeat(2_000),
]

describe('The form refuses the same values as the API', () => {
  test.each(contracts.map((contract) => [contract.name, contract] as const))('%s', (_name, contract) => {
    const { properties, required } = parametersSchema(contract)
    for (const [name, schema] of Object.entries(properties)) {
      const parameter = { name, required: required.includes(name), schema }
      if (controlKind(parameter) === 'json') continue
      for (const value of samples) {
        const taken = contract.params.shape[name]?.['~standard'].validate(value)
        const accepted = taken !== undefined && 'issues' in taken ? taken.issues === undefined : taken !== undefined
        expect([name, value, valueProblem(parameter, value, t) === '']).toEqual([name, value, accepted])
      }
      expect(valueProblem(parameter, '', t)).toBe(parameter.required ? 'complaints.missing' : '')
    }
  })
})

test('options are an object, written as JSON', () => {
  const parameter = { name: 'options', required: false, schema: { type: 'string' } }
  expect(valueProblem(parameter, '{"login_name":"admin"}', t)).toBe('')
  expect(valueProblem(parameter, '{"login_name"', t)).toBe('tester.badJson')
  expect(valueProblem(parameter, '[1]', t)).toBe('tester.notObject')
})
