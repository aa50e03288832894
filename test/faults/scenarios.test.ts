import { expect, test } from 'vitest'
import { bundledScenarios } from '../../server/lab/scenarios/bundled.ts'
import { labRun } from '../support/lab/lab-run.ts'

test.each(bundledScenarios().map(({ name }) => name))(
  'The bundled scenario %s holds, and gives the same verdict twice',
  async (name) => {
    for (const seed of [1, 7]) {
      const [one, other] = [await labRun(name, `--seed=${seed}`), await labRun(name, `--seed=${seed}`)]
      expect(one.stdout).toMatch(/All \d+ steps hold/)
      expect(other.steps).toEqual(one.steps)
    }
  },
)
