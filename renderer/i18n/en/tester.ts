export const tester = { title: '' } as const
