import { z } from 'zod'

// The content security policy forbids eval: with this setting zod does not try it. Must run before any schema is made;
// the build maps `zod` to this file in every module of the page.
z.config({ jitless: true })

export * from 'zod'
