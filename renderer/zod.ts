import { z } from 'zod'

// The content security policy forbids eval; told before any schema is made, zod does not even try.
z.config({ jitless: true })
