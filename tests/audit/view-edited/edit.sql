UPDATE runs SET doc = replace(doc, '"100"', '"1"') WHERE digest = 'sha256:8033382aa2d60c99d120a0cd4ad794aa51c112c4d6cc77c60e36a26788c38753';
