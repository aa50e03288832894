import { z } from 'zod'

// The content security policy forbids eval: set before any schema is made, zod does not even try. The build gives every module of the page this file for `zod`.
z.config({ jitless: true })

export * from 'zod'
