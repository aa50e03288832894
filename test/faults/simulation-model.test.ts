import { expect, test } from 'vitest'
import { postgresOfFile } from '../server/store/drivers.ts'
import { compareModel } from '../simulation/compare-model.ts'

const postgres = postgresOfFile()

test('In 100 scenarios the model of PostgreSQL answers the statements of controllers as PostgreSQL does', async () => {
  const { statements, kinds } = await compareModel(await postgres(), { seeds: 100, steps: 150 })
  console.info(`${statements} statements of ${kinds} kinds: the same answers`)
  expect(kinds).toBeGreaterThan(30)
}, 400_000)
