import { defineConfig } from 'vitest/config'

/** For `leak-guard.test.ts`: a test file that leaves things behind. */
export default defineConfig({
  test: { include: ['leaves.ts'], setupFiles: ['../../support/leak-guard.ts'], root: import.meta.dirname },
})
