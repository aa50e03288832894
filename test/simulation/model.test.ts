import { expect, test } from 'vitest'
import { postgresOfFile } from '../server/store/drivers.ts'
import { compareModel } from './compare-model.ts'

const postgres = postgresOfFile()

test('The model of PostgreSQL answers the statements of controllers as PostgreSQL does', async () => {
  const { statements, kinds } = await compareModel(await postgres(), { seeds: 6, steps: 60 })
  expect(statements).toBeGreaterThan(500)
  expect(kinds).toBeGreaterThan(25)
})
